// Users and the tokens they sign in with. Only hashes of tokens are stored.
export interface UserRecord {
  userId: string;
  name: string;
  isAdmin: boolean;
}
export interface TokenStore {
  /** The user of a token that is neither revoked nor expired. */
  findUser(token: string): Promise<UserRecord | undefined>;
  /** Makes sure that the administrator exists and that this token signs him in. Idempotent. */
  bootstrapAdmin(token: string): Promise<UserRecord>;
}
