// Who may connect: protocol version, payload and token are checked before the connection is accepted (GW-2).
import type { TokenStore, UserRecord } from '#domain';
import { AppError } from '#kernel';
import { handshake, LIMITS, PROTOCOL } from '#protocol';
import { parsePayload } from './payload.js';

export interface SignedIn {
  user: UserRecord;
  clientId: string | undefined;
  maxMessageBytes: number;
}

/** The parts of socket.io's `auth` that are looked at before the rest, so that another version's client is told so. */
interface Claims {
  protocol?: unknown;
  token?: unknown;
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

/**
 * Throws `protocol.unsupported_version`, `auth.token_missing`, `request.invalid_payload`, `auth.token_invalid`, or what the store
 * throws (`service.unavailable`).
 */
export async function signIn(auth: unknown, tokens: Pick<TokenStore, 'findUser'>): Promise<SignedIn> {
  const { protocol, token }: Claims = isRecord(auth) ? auth : {};
  if (Number.isInteger(protocol) && !speaks(protocol as number)) {
    throw new AppError('protocol.unsupported_version', 'This version of the protocol is not spoken here.', {
      details: { min: PROTOCOL.min, max: PROTOCOL.max },
    });
  }
  if (token === undefined || token === '') throw new AppError('auth.token_missing', 'A sign-in token is needed.');
  const claims = parsePayload(handshake, auth);
  const user = await tokens.findUser(claims.token);
  if (user === undefined) throw new AppError('auth.token_invalid', 'The sign-in token is not valid.');
  return {
    user,
    clientId: claims.client_id,
    maxMessageBytes: (claims.max_message_kb ?? LIMITS.maxMessageKb.default) * 1024,
  };
}

const speaks = (version: number): boolean => version >= PROTOCOL.min && version <= PROTOCOL.max;
