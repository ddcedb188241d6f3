// What the feed says of a turn in words: which model answers, how long it took and what it cost. In a demo nothing costs anything.
import { PERMISSION_MODES, type PermissionMode } from '#kernel';
import type { ResultItem } from '../state/feed-item.js';
import { formatCost, formatCount, formatDuration } from '../text/format.js';
import { t } from '../text/index.js';

export function resultFacts({ tokens, turns, durationMs, costUsd }: ResultItem, demo: boolean): string[] {
  const facts = [
    durationMs !== undefined && formatDuration(durationMs),
    demo ? t.demo.noCost : formatCost(costUsd),
    turns !== undefined && t.feed.resultTurns(turns),
    tokens.input + tokens.output > 0 && t.feed.resultTokens(formatCount(tokens.input), formatCount(tokens.output)),
  ];
  return facts.filter((fact) => fact !== false);
}

/** In a demo the agent names the model that it asked for, which is not the one that answers. */
export function openingWords(model: string, mode: string, demo: boolean): string {
  return t.feed.init(demo ? t.demo.title : model, isMode(mode) ? t.mode[mode] : mode);
}

function isMode(mode: string): mode is PermissionMode {
  return (PERMISSION_MODES as readonly string[]).includes(mode);
}
