// HTTP headers as a list of pairs: order and repetitions are kept, names keep their case and are compared without it.

export type HeaderList = readonly (readonly [name: string, value: string])[];

/** Node's flat `rawHeaders` (name, value, name, value …) as pairs. */
export function fromRaw(raw: readonly string[]): HeaderList {
  const pairs: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) pairs.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return pairs;
}

/** The flat form that Node takes for a head. */
export function toRaw(headers: HeaderList): string[] {
  return headers.flat();
}

/** All values of a header, in order. */
export function valuesOf(headers: HeaderList, name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter(([candidate]) => candidate.toLowerCase() === wanted).map(([, value]) => value);
}

/** The list without every header of that name. */
export function without(headers: HeaderList, name: string): HeaderList {
  const unwanted = name.toLowerCase();
  return headers.filter(([candidate]) => candidate.toLowerCase() !== unwanted);
}
