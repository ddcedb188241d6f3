// What the driver, the pool and Prisma say about a server that is not there, as it was seen when one crashed under load.
import { translateDatabaseError } from './database-errors.js';

const prisma = (message: string, code = 'P2010'): Error =>
  Object.assign(new Error(message), { name: 'PrismaClientKnownRequestError', code });
const codeOf = (error: unknown): string => translateDatabaseError(error).code;

describe('translateDatabaseError', () => {
  const AWAY = [
    prisma('Raw query failed. Code: `N/A`. Message: `Server has closed the connection.`'),
    prisma('Raw query failed. Code: `N/A`. Message: `Operation has timed out`'),
    prisma('Raw query failed. Code: `N/A`. Message: `Too many database connections opened: x`'),
    prisma('Server has closed the connection.', 'P1017'),
    prisma('The transaction was closed.', 'P1018'),
    Object.assign(new Error('terminating connection due to administrator command'), { code: '57P01' }),
    Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:5432'), { code: 'ECONNREFUSED' }),
    new Error('Connection terminated unexpectedly'),
  ];
  it.each(AWAY.map((error) => ({ said: error.message, error })))(
    'DATA-16 says that trying again helps: $said',
    ({ error }) => {
      const translated = translateDatabaseError(error);
      expect(translated).toMatchObject({ code: 'service.unavailable' });
      expect(translated.message).not.toContain('query');
    },
  );

  it('DATA-16 calls anything else unexpected, and tells nothing of the SQL', () => {
    const wrong = prisma('Raw query failed. Code: `42703`. Message: `column "secret" does not exist`');
    expect(codeOf(wrong)).toBe('internal.unexpected');
    expect(translateDatabaseError(wrong).message).not.toContain('secret');
  });
});
