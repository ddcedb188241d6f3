import { never } from './scenario.ts';
import { conclusion, table } from './report.ts';
import { isKept, type Outcome } from './run-scenario.ts';

const kept: Outcome = { name: 'calm', seconds: 1, findings: [never('losses', [])] };
const broken: Outcome = { name: 'storm', seconds: 1, findings: [never('losses', ['a|b'])], evidence: 'there' };
const stuck: Outcome = {
  name: 'mud',
  seconds: 1,
  findings: [],
  error: new Error('no end\nat line 1'),
  evidence: 'here',
};

describe('the report', () => {
  it('CHS-2 shows goal and measured value of each promise, and what did not come to its end', () => {
    expect(table([kept, broken, stuck]).split('\n').slice(2)).toEqual([
      '| calm | losses | 0 | 0 | kept |',
      '| storm | losses | 0 | 1 (a\\|b) | BROKEN |',
      '| mud | comes to its end | yes | no end | BROKEN |',
    ]);
  });

  it('CHS-2 ends with the counts, after the seed and the evidence of what broke', () => {
    expect(conclusion([kept, broken, stuck], 7).split('\n')).toEqual([
      'storm: a promise is broken; seed 7; evidence in there',
      'mud: a promise is broken; seed 7; evidence in here',
      '1 kept, 2 broken',
    ]);
  });

  it('CHS-2 counts a scenario that found nothing as broken', () => {
    expect([kept, broken, stuck, { ...kept, findings: [] }].map(isKept)).toEqual([true, false, false, false]);
  });
});
