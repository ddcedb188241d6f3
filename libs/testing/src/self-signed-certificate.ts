// A certificate authority and server in one, made on the spot, for tests of TLS. Nothing on disk that a scanner could take for a secret.
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';

export interface SelfSignedCertificate {
  /** PEM; also the authority to trust. */
  cert: string;
  /** PEM, PKCS #8. */
  key: string;
}

const OID = {
  ecdsaWithSha256: '06082a8648ce3d040302',
  commonName: '0603550403',
  basicConstraints: '0603551d13',
  subjectAltName: '0603551d11',
} as const;
const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  utf8: 0x0c,
  sequence: 0x30,
  set: 0x31,
  utcTime: 0x17,
} as const;
const DAY_MS = 86_400_000;

/** Valid from yesterday to tomorrow for one DNS name. DER by hand: RFC 5280, section 4.1. */
export function selfSignedCertificate(dnsName: string): SelfSignedCertificate {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = der(TAG.sequence, hex(OID.ecdsaWithSha256));
  const name = der(
    TAG.sequence,
    der(TAG.set, der(TAG.sequence, hex(OID.commonName), der(TAG.utf8, Buffer.from(dnsName)))),
  );
  const isAuthority = der(TAG.sequence, der(TAG.boolean, Buffer.from([0xff])));
  const alternativeNames = der(TAG.sequence, der(0x82, Buffer.from(dnsName)));
  const extensions = der(
    TAG.sequence,
    der(TAG.sequence, hex(OID.basicConstraints), der(TAG.boolean, Buffer.from([0xff])), der(TAG.octets, isAuthority)),
    der(TAG.sequence, hex(OID.subjectAltName), der(TAG.octets, alternativeNames)),
  );
  const toBeSigned = der(
    TAG.sequence,
    der(0xa0, der(TAG.integer, Buffer.from([2]))),
    der(TAG.integer, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    algorithm,
    name,
    der(TAG.sequence, utcTime(Date.now() - DAY_MS), utcTime(Date.now() + DAY_MS)),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, extensions),
  );
  const signature = Buffer.concat([Buffer.from([0]), sign('sha256', toBeSigned, privateKey)]);
  const certificate = der(TAG.sequence, toBeSigned, algorithm, der(TAG.bits, signature));
  const lines = certificate.toString('base64').match(/.{1,64}/g) ?? [];
  return {
    cert: `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`,
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const body = Buffer.concat(contents);
  const length =
    body.length < 0x80
      ? [body.length]
      : body.length < 0x100
        ? [0x81, body.length]
        : [0x82, body.length >> 8, body.length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...length]), body]);
}

function hex(text: string): Buffer {
  return Buffer.from(text, 'hex');
}

/** YYMMDDHHMMSSZ */
function utcTime(ms: number): Buffer {
  const digits = new Date(ms).toISOString().replace(/\D/g, '').slice(2, 14);
  return der(TAG.utcTime, Buffer.from(`${digits}Z`));
}
