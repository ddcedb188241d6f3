// What of an error a client may see.
import { AppError } from '#kernel';
import { errorObject } from '#protocol';
import { HandshakeRefused, toErrorObject } from './error-object.js';

it('GW-13 shows nothing of an error that is not ours', () => {
  const error = toErrorObject(new Error('SELECT * FROM "user" failed at /srv/app'), 'c-1');
  expect(errorObject.parse(error)).toEqual({
    code: 'internal.unexpected',
    kind: 'internal',
    message: 'Something went wrong on our side.',
    retryable: false,
    correlation_id: 'c-1',
  });
});

it('GW-13 shows neither text nor details of an internal one', () => {
  const thrown = new AppError('sandbox.protocol', 'frame 7 of /run/sandboxd', { details: { path: '/run' } });
  expect(JSON.stringify(toErrorObject(thrown, 'c'))).not.toContain('/run');
});

it('GW-13 keeps code, details and the time to wait of one that is ours', () => {
  const thrown = new AppError('host.unavailable', 'No host.', {
    details: { host: 'h' },
    retryAfterMs: 250,
    cause: 'x',
  });
  expect(toErrorObject(thrown, 'c')).toEqual({
    code: 'host.unavailable',
    kind: 'unavailable',
    message: 'No host.',
    retryable: true,
    correlation_id: 'c',
    details: { host: 'h' },
    retry_after_ms: 250,
  });
});

it('GW-2 carries the error object as the data of a refused handshake', () => {
  const refused = new HandshakeRefused(new AppError('auth.token_invalid', 'No.'), 'c-2');
  expect(refused.message).toBe('No.');
  expect(errorObject.parse(refused.data)).toMatchObject({ code: 'auth.token_invalid', correlation_id: 'c-2' });
});
