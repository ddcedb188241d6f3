// Which certificate authorities an image needs beyond its own.
import { rootCertificates } from 'node:tls';
import { certificatesIn, extraCertificates } from './extra-certificates.ts';

const [first = '', second = '', third = ''] = rootCertificates;
const NOT_ONE = '-----BEGIN CERTIFICATE-----\nbm90IG9uZQ==\n-----END CERTIFICATE-----';

describe('extra certificates', () => {
  it('OPS-25 are those that the public list lacks, each once, in an order of their own', () => {
    const bundles = [`# a comment\n${first}\n${second}\n`, `${third}\n${second}\n${NOT_ONE}\n`];
    const extra = extraCertificates(bundles, [first]);
    expect(extra.map(({ pem }) => pem.trim()).sort()).toEqual([second, third].sort());
    expect(extraCertificates([...bundles].reverse(), [first])).toEqual(extra);
    expect(new Set(extra.map(({ fileName }) => fileName)).size).toBe(2);
    for (const { fileName } of extra) expect(fileName).toMatch(/^extra-[0-9a-f]{12}\.crt$/);
  });

  it('OPS-25 are none where the host trusts only public ones', () => {
    expect(extraCertificates([rootCertificates.join('\n')], rootCertificates)).toEqual([]);
    expect(certificatesIn('no certificate here')).toEqual([]);
  });
});
