// The models that the stand-in says it has. Any other name is served too: a model's name changes nothing here.
const RELEASED = '2026-01-01T00:00:00Z';

const MODELS = [
  { id: 'claude-opus-5-5', display_name: 'Demo model, as Claude Opus 5.5' },
  { id: 'claude-sonnet-5-5', display_name: 'Demo model, as Claude Sonnet 5.5' },
  { id: 'claude-haiku-5-5', display_name: 'Demo model, as Claude Haiku 5.5' },
];

/** Body of `GET /v1/models`. Source: https://docs.claude.com/en/api/models-list */
export function modelList(): object {
  return { data: MODELS.map(modelInfo), has_more: false, first_id: MODELS[0]?.id, last_id: MODELS.at(-1)?.id };
}

/** Body of `GET /v1/models/{id}`, or undefined for a model that is not listed. */
export function findModel(id: string): object | undefined {
  const model = MODELS.find((candidate) => candidate.id === id);
  return model === undefined ? undefined : modelInfo(model);
}

function modelInfo(model: { id: string; display_name: string }): object {
  return { type: 'model', ...model, created_at: RELEASED, max_input_tokens: 200_000, max_tokens: 128_000 };
}
