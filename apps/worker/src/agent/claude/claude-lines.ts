// The lines of Claude Code's stream-json output, as far as Gantry looks into them. Shapes: sdk.d.ts of the pinned Agent SDK
// (SDKMessage and the control protocol); everything else of a line is passed on as it came.

export type JsonObject = Record<string, unknown>;

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object of a line, or undefined when it is not JSON. */
export function parseLine(line: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(line);
    return isObject(value) ? value : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined);
export const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);
export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {});
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);

/** The content blocks of an API message; a plain string is one text block. */
export function blocksOf(message: JsonObject): JsonObject[] {
  const { content } = message;
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return listOf(content).filter(isObject);
}

/** Ids of the tool uses that a user message answers. */
export const toolResultIds = (message: JsonObject): string[] =>
  blocksOf(message)
    .filter((block) => block['type'] === 'tool_result')
    .map((block) => textOf(block['tool_use_id']) ?? '');
