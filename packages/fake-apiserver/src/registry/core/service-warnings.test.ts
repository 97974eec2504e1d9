// The texts are those of the real server at 1.30.3.
import { describe, expect, it } from 'vitest';
import { serviceWarnings } from './service-warnings.ts';

const LATER = 'IP address was accepted, but will be invalid in a future Kubernetes release';

describe('serviceWarnings', () => {
  it.each<[string, object, readonly string[]]>([
    ['nothing in a plain service', { clusterIP: '10.0.0.1', clusterIPs: ['10.0.0.1'] }, []],
    [
      'addresses that are none',
      { loadBalancerIP: 'http' },
      [`spec.loadBalancerIP: ${LATER}: ParseAddr("http"): unable to parse IP`],
    ],
    [
      'leading zeros',
      { externalIPs: ['1.2.03.4'] },
      [`spec.externalIPs[0]: ${LATER}: ParseAddr("1.2.03.4"): IPv4 field has octet with leading zero`],
    ],
    [
      'addresses written in another way than all do',
      { externalIPs: ['2001:DB8::1'] },
      [
        'spec.externalIPs[0]: IPv6 address "2001:DB8::1" is not in RFC 5952 canonical format ("2001:db8::1"), which may cause controller apply-loops',
      ],
    ],
    [
      'a name that is not used',
      { type: 'ClusterIP', externalName: 'a.b' },
      ['spec.externalName is ignored when spec.type is not "ExternalName"'],
    ],
  ])('tell of %s', (_, spec, expected) => {
    expect(serviceWarnings({ metadata: {}, spec })).toEqual(expected);
  });
});
