// Certificate authorities that this machine trusts beyond Debian's list (a company's proxy, say): images need them too.
import { createHash, X509Certificate } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { readIfPresent } from './private-file.ts';

const HOST_BUNDLES = ['/etc/ssl/certs/ca-certificates.crt', '/etc/pki/tls/certs/ca-bundle.crt'];
/** Debian's package ca-certificates keeps the public authorities here, those that Node dropped meanwhile too. */
const DEBIAN_FOLDER = '/usr/share/ca-certificates/mozilla';

export interface ExtraCertificate {
  /** `<hash>.crt`, the name under which update-ca-certificates takes it. */
  fileName: string;
  pem: string;
}

const fingerprint = (pem: string): string | undefined => {
  try {
    return new X509Certificate(pem).fingerprint256;
  } catch {
    return undefined; // not a certificate that OpenSSL understands: of no use in an image either
  }
};

export const certificatesIn = (bundle: string): string[] =>
  bundle.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];

/** Those of `bundles` that `known` lacks, each once, in a stable order. */
export function extraCertificates(bundles: readonly string[], known: readonly string[]): ExtraCertificate[] {
  const knownPrints = new Set(known.map(fingerprint));
  const extra = new Map<string, string>();
  for (const pem of bundles.flatMap(certificatesIn)) {
    const print = fingerprint(pem);
    if (print && !knownPrints.has(print)) extra.set(print, pem);
  }
  return [...extra.keys()].sort().map((print) => ({
    fileName: `extra-${createHash('sha256').update(print).digest('hex').slice(0, 12)}.crt`,
    pem: `${extra.get(print) ?? ''}\n`,
  }));
}

function debianCertificates(): string[] {
  try {
    return readdirSync(DEBIAN_FOLDER).map((file) => readFileSync(join(DEBIAN_FOLDER, file), 'utf8'));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return []; // another distribution: Node's list alone
    throw error;
  }
}

/** What the host trusts beyond the public authorities; `NODE_EXTRA_CA_CERTS` counts as trusted. */
export function hostExtraCertificates(extraCaFile: string | undefined): ExtraCertificate[] {
  const files = [...HOST_BUNDLES, ...(extraCaFile ? [extraCaFile] : [])];
  const bundles = [...new Set(files)].flatMap((file) => readIfPresent(file) ?? []);
  return extraCertificates(bundles, [...rootCertificates, ...debianCertificates()]);
}
