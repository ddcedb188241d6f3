// Anthropic's Messages API: its open routes, and the two ways to present a credential to it.
import { AppError } from '#kernel';
import type { ModelCredential } from '#config';
import { type HeaderList, valuesOf, without } from '../http/header-list.js';
import type { Provider, Route } from './provider.js';
import type { Upstream } from './upstream.js';

/**
 * What Claude Code asks for (seen with 2.1.330). Files, batches and the organisation's other resources belong to the key, not to a project:
 * a sandbox that could list them would read what other projects stored there.
 */
const ROUTES: readonly Route[] = [
  { name: 'messages', method: 'POST', path: /^\/v1\/messages$/ },
  { name: 'count_tokens', method: 'POST', path: /^\/v1\/messages\/count_tokens$/ },
  { name: 'models', method: 'GET', path: /^\/v1\/models$/ },
  { name: 'model', method: 'GET', path: /^\/v1\/models\/[\w.:@-]+$/ },
];

/** The beta that makes the API take an OAuth token. Source: `prepareRequest` of @anthropic-ai/sdk 1.12; Claude Code 2.1.330 sends the same. */
const OAUTH_BETA = 'oauth-2025-04-20';
const BETA_HEADER = 'anthropic-beta';

/** Printable ASCII: all that a header can carry without a reader changing it. */
const CREDENTIAL_FORM = /^[\x21-\x7e]+$/;

export function anthropicProvider(upstream: Upstream, credential: ModelCredential | undefined): Provider {
  const secret = credential?.value.reveal();
  if (secret !== undefined && !CREDENTIAL_FORM.test(secret)) {
    throw new AppError('config.invalid', "The model's credential holds characters that a header cannot carry.");
  }
  return {
    name: 'anthropic',
    upstream,
    routes: ROUTES,
    secrets: secret === undefined ? [] : [secret],
    authorize: (headers) => {
      if (credential === undefined || secret === undefined) {
        throw new AppError('broker.not_configured', 'No credential for the model API is configured.');
      }
      return credential.kind === 'api_key' ? [...headers, ['x-api-key', secret]] : withOauth(headers, secret);
    },
  };
}

function withOauth(headers: HeaderList, token: string): HeaderList {
  const asked = valuesOf(headers, BETA_HEADER).flatMap((value) => value.split(','));
  const betas = new Set([...asked.map((beta) => beta.trim()).filter((beta) => beta !== ''), OAUTH_BETA]);
  return [...without(headers, BETA_HEADER), [BETA_HEADER, [...betas].join(',')], ['authorization', `Bearer ${token}`]];
}
