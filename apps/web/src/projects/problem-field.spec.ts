// Errors of the form for a new project.
import { fieldOf } from './problem-field.js';

describe('fieldOf', () => {
  it.each([
    ['project.path_outside_roots', undefined, 'path'],
    ['project.path_taken', undefined, 'path'],
    ['request.invalid_payload', { fields: [{ path: 'name', message: 'too long' }] }, 'name'],
    [
      'request.invalid_payload',
      {
        fields: [
          { path: 'path', message: '' },
          { path: 'name', message: '' },
        ],
      },
      'path',
    ],
    ['request.invalid_payload', { fields: [{ path: 'options.model', message: '' }] }, undefined],
    ['request.invalid_payload', { fields: 'none' }, undefined],
    ['project.limit_reached', undefined, undefined],
  ])('WEB-21 puts %s %j beside %s', (code, details, field) => {
    expect(fieldOf({ code, details })).toBe(field);
  });
});
