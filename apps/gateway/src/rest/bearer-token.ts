// Who asks: the token comes in the header Authorization (RFC 6750, section 2.1) and nowhere else, so that no log or history holds it.
import type { IncomingHttpHeaders } from 'node:http';
import type { TokenStore, UserRecord } from '#domain';
import { AppError } from '#kernel';

const BEARER = /^bearer +(?<token>[\w\-.~+/]{1,500}=*)$/i;

/** Throws `auth.token_missing`, `auth.token_invalid`, or what the store throws (`service.unavailable`). */
export async function userOf(
  { authorization }: Pick<IncomingHttpHeaders, 'authorization'>,
  tokens: Pick<TokenStore, 'findUser'>,
): Promise<UserRecord> {
  if (authorization === undefined || authorization === '') {
    throw new AppError('auth.token_missing', 'A sign-in token is needed: the header Authorization: Bearer <token>.');
  }
  const token = BEARER.exec(authorization)?.groups?.['token'];
  const user = token === undefined ? undefined : await tokens.findUser(token);
  if (user === undefined) throw new AppError('auth.token_invalid', 'The sign-in token is not valid.');
  return user;
}

/** The header WWW-Authenticate of a refusal (RFC 6750, section 3). */
export const challengeOf = ({ code }: AppError): string =>
  code === 'auth.token_invalid' ? 'Bearer realm="gantry", error="invalid_token"' : 'Bearer realm="gantry"';
