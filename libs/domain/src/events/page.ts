// Keyset pages: a cursor is opaque to callers and names the last row seen, never an offset.
export interface PageRequest {
  limit: number;
  cursor?: string;
}
export interface Page<T> {
  items: T[];
  nextCursor?: string;
}
