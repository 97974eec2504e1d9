// Certificates of this server: an authority made at the start, a leaf for loopback, and client certificates on demand.
// Upstream: client-go@v0.30.3:util/cert/cert.go
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import {
  bitString,
  boolean,
  explicit,
  implicit,
  integer,
  octetString,
  oid,
  sequence,
  set,
  time,
  utf8String,
} from './der.ts';

const OID = {
  ecdsaSha256: '1.2.840.10045.4.3.2',
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  subjectKeyId: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyId: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

const DAY_MS = 86_400_000;

/** A certificate and its key in PEM. */
export interface KeyedCertificate {
  readonly certPem: string;
  readonly keyPem: string;
}

export interface SubjectName {
  readonly commonName: string;
  readonly organizations?: readonly string[];
}

/** Signs leaves; its own certificate goes into kubeconfigs. */
export class CertificateAuthority {
  readonly certPem: string;
  readonly #key: KeyObject;
  readonly #name: Buffer;
  readonly #keyId: Buffer;
  readonly #nowMs: number;

  /** Valid from an hour before `nowMs`, for ten years. */
  constructor(commonName: string, nowMs: number) {
    const { publicKey, privateKey } = newKeys();
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    this.#key = privateKey;
    this.#nowMs = nowMs;
    this.#name = distinguishedName({ commonName });
    this.#keyId = createHash('sha1').update(spki).digest();
    // digitalSignature, keyEncipherment, keyCertSign
    const usage = bitString(Buffer.from([0xa4]), 2);
    this.certPem = this.#sign(this.#name, spki, [
      extension(OID.keyUsage, usage, true),
      extension(OID.basicConstraints, sequence(boolean(true)), true),
      extension(OID.subjectKeyId, octetString(this.#keyId), false),
    ]);
  }

  /** For the names and addresses clients dial. */
  issueServer(hosts: readonly string[]): KeyedCertificate {
    const names = hosts.map((host) => {
      if (isIPv4(host)) return implicit(7, Buffer.from(host.split('.').map(Number)));
      if (isIPv6(host)) return implicit(7, ipv6Bytes(host));
      return implicit(2, Buffer.from(host));
    });
    return this.#issue({ commonName: 'kube-apiserver' }, OID.serverAuth, [
      extension(OID.subjectAltName, sequence(...names), false),
    ]);
  }

  /** Common name is the user, organizations are its groups. */
  issueClient(subject: SubjectName): KeyedCertificate {
    return this.#issue(subject, OID.clientAuth, []);
  }

  #issue(subject: SubjectName, purpose: string, more: readonly Buffer[]): KeyedCertificate {
    const { publicKey, privateKey } = newKeys();
    const spki = publicKey.export({ type: 'spki', format: 'der' });
    const certPem = this.#sign(distinguishedName(subject), spki, [
      // digitalSignature, keyEncipherment
      extension(OID.keyUsage, bitString(Buffer.from([0xa0]), 5), true),
      extension(OID.extendedKeyUsage, sequence(oid(purpose)), false),
      extension(OID.basicConstraints, sequence(), true),
      extension(OID.authorityKeyId, sequence(implicit(0, this.#keyId)), false),
      ...more,
    ]);
    return { certPem, keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString() };
  }

  #sign(subject: Buffer, spki: Buffer, extensions: readonly Buffer[]): string {
    const algorithm = sequence(oid(OID.ecdsaSha256));
    const serial = randomBytes(16);
    serial[0]! &= 0x7f;
    const content = sequence(
      explicit(0, integer(Buffer.from([2]))),
      integer(serial),
      algorithm,
      this.#name,
      sequence(time(this.#nowMs - DAY_MS / 24), time(this.#nowMs + 3650 * DAY_MS)),
      subject,
      spki,
      explicit(3, sequence(...extensions)),
    );
    const signature = sign('sha256', content, this.#key);
    return toPem(sequence(content, algorithm, bitString(signature)));
  }
}

function newKeys(): { publicKey: KeyObject; privateKey: KeyObject } {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
}

function distinguishedName({ commonName, organizations = [] }: SubjectName): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), utf8String(value)));
  return sequence(
    ...organizations.map((organization) => attribute(OID.organization, organization)),
    attribute(OID.commonName, commonName),
  );
}

function extension(type: string, value: Buffer, critical: boolean): Buffer {
  return sequence(oid(type), ...(critical ? [boolean(true)] : []), octetString(value));
}

function ipv6Bytes(address: string): Buffer {
  const [head = '', tail] = address.split('::');
  const words = (text: string): readonly number[] =>
    text === '' ? [] : text.split(':').map((w) => Number.parseInt(w, 16));
  const front = words(head);
  const back = words(tail ?? '');
  const bytes = Buffer.alloc(16);
  front.forEach((word, index) => {
    bytes.writeUInt16BE(word, index * 2);
  });
  back.forEach((word, index) => {
    bytes.writeUInt16BE(word, 16 - (back.length - index) * 2);
  });
  return bytes;
}

function toPem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN CERTIFICATE-----\n${lines.join('\n')}\n-----END CERTIFICATE-----\n`;
}
