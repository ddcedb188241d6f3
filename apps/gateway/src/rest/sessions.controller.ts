// HTTP routes about conversations.
import { Controller } from '@nestjs/common';
import type { ClientData } from '#protocol';
import { Call, type RestCall } from './rest-call.js';
import { Route } from './rest-routing.js';
import { UseCases } from './use-cases.js';

@Controller()
export class SessionsController {
  constructor(private readonly useCases: UseCases) {}

  @Route('listSessions')
  list(@Call() call: RestCall): Promise<ClientData<'session_list'>> {
    return this.useCases.answer('session_list', call);
  }

  @Route('listProjectSessions')
  listOfProject(@Call() call: RestCall): Promise<ClientData<'session_list'>> {
    return this.useCases.answer('session_list', call);
  }

  @Route('getSession')
  get(@Call() call: RestCall): Promise<ClientData<'session_get'>> {
    return this.useCases.answer('session_get', call);
  }
}
