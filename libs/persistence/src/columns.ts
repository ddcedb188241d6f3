// Rows of raw queries under the names that Prisma's models give to their columns.

/** A row as Postgres names its columns: snake_case. */
export type Columns = Record<string, unknown>;

const camelCase = (column: string): string =>
  column.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

/** For `SELECT *` of one table: the columns under the names of the table's model, which the caller says what they are. */
export const modelColumns = (row: Columns): Columns =>
  Object.fromEntries(Object.entries(row).map(([column, value]) => [camelCase(column), value]));
