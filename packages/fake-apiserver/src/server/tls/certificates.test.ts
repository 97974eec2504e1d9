import { X509Certificate } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { CertificateAuthority } from './certificates.ts';
import { integer, oid, time } from './der.ts';

const now = Date.UTC(2026, 0, 1);

describe('CertificateAuthority', () => {
  const authority = new CertificateAuthority('test-ca', now);
  const root = new X509Certificate(authority.certPem);

  it('signs itself, for ten years', () => {
    expect(root.ca).toBe(true);
    expect(root.verify(root.publicKey)).toBe(true);
    expect(root.subject).toBe('CN=test-ca');
    expect(Date.parse(root.validTo) - now).toBe(3650 * 86_400_000);
  });

  it('issues server certificates for names and addresses', () => {
    const leaf = new X509Certificate(authority.issueServer(['localhost', '127.0.0.1', '::1']).certPem);
    expect(leaf.checkIssued(root)).toBe(true);
    expect(leaf.verify(root.publicKey)).toBe(true);
    expect(leaf.checkHost('localhost')).toBe('localhost');
    expect(leaf.checkIP('127.0.0.1')).toBe('127.0.0.1');
    expect(leaf.checkIP('::1')).toBe('::1');
    expect(leaf.checkHost('example.com')).toBeUndefined();
    expect(leaf.ca).toBe(false);
  });

  it('issues client certificates with user and groups', () => {
    const { certPem } = authority.issueClient({ commonName: 'alice', organizations: ['a', 'b'] });
    expect(new X509Certificate(certPem).subject).toBe('O=a\nO=b\nCN=alice');
  });
});

describe('DER', () => {
  it('writes integers without needless zeros and never negative', () => {
    expect(integer(Buffer.from([0, 0, 1])).toString('hex')).toBe('020101');
    expect(integer(Buffer.from([0x80])).toString('hex')).toBe('02020080');
  });

  it('writes arcs above 127 in groups of seven bits', () => {
    expect(oid('1.2.840.10045.4.3.2').toString('hex')).toBe('06082a8648ce3d040302');
  });

  it('switches to four-digit years in 2050', () => {
    expect(time(Date.UTC(2049, 11, 31)).toString('latin1')).toContain('491231000000Z');
    expect(time(Date.UTC(2050, 0, 1)).toString('latin1')).toContain('20500101000000Z');
  });
});
