// Client events about the numbers of the installation.
import { Injectable } from '@nestjs/common';
import type { EventHandlers } from '../transport/request-context.js';
import { StatsFeed } from './stats-feed.js';

@Injectable()
export class StatsGateway {
  readonly handlers: EventHandlers<'stats_subscribe' | 'stats_unsubscribe'> = {
    stats_subscribe: (_, { connection }) => this.feed.subscribe(connection),
    stats_unsubscribe: async (_, { connection }) => {
      this.feed.unsubscribe(connection);
      return {};
    },
  };

  constructor(private readonly feed: StatsFeed) {}
}
