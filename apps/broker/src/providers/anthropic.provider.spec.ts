// The credential of the Messages API in its two forms, and the routes that are open.
import { Secret } from '#config';
import { valuesOf } from '../http/header-list.js';
import { anthropicProvider } from './anthropic.provider.js';
import { findRoute } from './provider.js';
import { createUpstream } from './upstream.js';

const upstream = createUpstream({ baseUrl: 'https://api.example' });
const withKey = anthropicProvider(upstream, { kind: 'api_key', value: new Secret('sk-real') });
const withOauth = anthropicProvider(upstream, { kind: 'oauth_token', value: new Secret('oat-real') });

describe('the Anthropic provider', () => {
  it('BRK-6 presents an API key as x-api-key', () => {
    expect(withKey.authorize([['anthropic-version', '2023-06-01']])).toEqual([
      ['anthropic-version', '2023-06-01'],
      ['x-api-key', 'sk-real'],
    ]);
  });

  it('BRK-6 presents an OAuth token as Bearer and adds its beta once to those that were asked for', () => {
    const headers = withOauth.authorize([
      ['Anthropic-Beta', 'a-1, b-2'],
      ['x-app', 'cli'],
      ['anthropic-beta', 'oauth-2025-04-20,c-3'],
    ]);
    expect(valuesOf(headers, 'anthropic-beta')).toEqual(['a-1,b-2,oauth-2025-04-20,c-3']);
    expect(valuesOf(headers, 'authorization')).toEqual(['Bearer oat-real']);
    expect(valuesOf(headers, 'x-app')).toEqual(['cli']);
    expect(valuesOf(withOauth.authorize([]), 'anthropic-beta')).toEqual(['oauth-2025-04-20']);
  });

  it('BRK-6 says that it is not configured when there is no credential', () => {
    const provider = anthropicProvider(upstream, undefined);
    expect(() => provider.authorize([])).toThrow(expect.objectContaining({ code: 'broker.not_configured' }) as Error);
  });

  it('BRK-6 refuses a credential that a header would change, without showing it', () => {
    const value = new Secret('sk real\r\nx: y');
    const make = (): unknown => anthropicProvider(upstream, { kind: 'api_key', value });
    expect(make).toThrow(expect.objectContaining({ code: 'config.invalid' }) as Error);
    expect(make).not.toThrow(/sk real/);
  });

  it.each([
    ['POST', '/v1/messages', 'messages'],
    ['POST', '/v1/messages/count_tokens', 'count_tokens'],
    ['GET', '/v1/models', 'models'],
    ['GET', '/v1/models/claude-opus-5-5', 'model'],
  ])('BRK-9 opens %s %s', (method, path, name) => {
    expect(findRoute(withKey, method, path).name).toBe(name);
  });

  it.each([
    ['GET', '/v1/messages'],
    ['TRACE', '/v1/messages'],
    ['POST', '/v1/messages/batches'],
    ['GET', '/v1/messages/batches/x/results'],
    ['GET', '/v1/files'],
    ['GET', '/v1/organizations/x/api_keys'],
    ['GET', '/api/oauth/profile'],
    ['GET', '/v1/models/a%2F..'],
    ['POST', '/v1/messagesx'],
  ])('BRK-9 keeps %s %s closed', (method, path) => {
    expect(() => findRoute(withKey, method, path)).toThrow(
      expect.objectContaining({ code: 'broker.path_refused' }) as Error,
    );
  });
});

describe('createUpstream', () => {
  it.each([
    'https://api.example',
    'https://api.example:8443/anthropic/',
    'http://127.0.0.1:8080',
    'http://[::1]:1',
    'http://localhost:1/x',
  ])('BRK-15 takes %s', (baseUrl) => {
    expect(() => createUpstream({ baseUrl })).not.toThrow();
  });

  it.each([
    'http://api.example',
    'http://10.0.0.1',
    'http://localhost.evil.example',
    'ftp://127.0.0.1',
    'https://u:p@api.example',
    'https://api.example/?x',
    'nonsense',
  ])('BRK-15 refuses %s', (baseUrl) => {
    expect(() => createUpstream({ baseUrl })).toThrow(expect.objectContaining({ code: 'config.invalid' }) as Error);
  });
});
