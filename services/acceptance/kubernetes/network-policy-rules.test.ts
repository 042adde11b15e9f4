import { describe, expect, it } from 'vitest'
import { listAddressedPods, NetworkPolicy, Pod } from './network-policy-objects.ts'
import { formatPolicyTable } from './network-policy-rules.ts'

const pod = (name: string, address: string, namespace = 'shop') =>
  Pod.parse({
    metadata: { name, namespace, labels: { app: name } },
    spec: { containers: [{ ports: [{ name: 'http', containerPort: 3000 }] }] },
    status: { phase: 'Running', podIP: address },
  })

const pods = listAddressedPods([
  pod('web', '10.244.1.2'),
  pod('store', '10.244.1.3'),
  pod('dns', '10.244.2.2', 'system'),
])
const namespaces = new Map<string, Record<string, string>>([
  ['shop', {}],
  ['system', { name: 'system' }],
])

const policy = (spec: object) => NetworkPolicy.parse({ metadata: { namespace: 'shop' }, spec })

/** Returns the rules of each chain by its name. */
const chainsOf = (policies: readonly NetworkPolicy[]): Map<string, string[]> => {
  const table = formatPolicyTable({ pods, namespaces, policies, podNetwork: '10.244.0.0/16' })
  const chains = new Map<string, string[]>()
  for (const part of table.split(/^chain /m).slice(1)) {
    const [first = '', ...lines] = part.split('\n')
    chains.set(first.split(' ')[0] ?? '', lines.slice(0, lines.indexOf('}')))
  }
  return chains
}

describe('the table of NetworkPolicies', () => {
  it('allows everything to and from a pod without a policy, and drops packets of unknown pods', () => {
    const chains = chainsOf([])
    expect(chains.get('ingress_10_244_1_2')).toEqual(['return'])
    expect(chains.get('egress_10_244_1_2')).toEqual(['return'])
    const all = '{ 10.244.1.2, 10.244.1.3, 10.244.2.2 }'
    expect(chains.get('forward')).toContain(`ip saddr 10.244.0.0/16 ip saddr != ${all} drop`)
  })

  it('allows what a rule selects by pod, namespace, block and named port, and drops the rest', () => {
    const chains = chainsOf([
      policy({
        podSelector: { matchLabels: { app: 'store' } },
        policyTypes: ['Ingress'],
        ingress: [{ from: [{ podSelector: { matchLabels: { app: 'web' } } }], ports: [{ port: 'http' }] }],
      }),
      policy({
        podSelector: { matchExpressions: [{ key: 'app', operator: 'In', values: ['store'] }] },
        policyTypes: ['Egress'],
        egress: [
          { to: [{ namespaceSelector: { matchLabels: { name: 'system' } } }], ports: [{ protocol: 'UDP', port: 53 }] },
          { to: [{ ipBlock: { cidr: '0.0.0.0/0', except: ['169.254.0.0/16'] } }], ports: [{ port: 1, endPort: 9 }] },
        ],
      }),
    ])
    expect(chains.get('ingress_10_244_1_3')).toEqual(['ip saddr { 10.244.1.2 } tcp dport 3000 return', 'drop'])
    expect(chains.get('egress_10_244_1_3')).toEqual([
      'ip daddr { 10.244.2.2 } udp dport 53 return',
      'ip daddr 0.0.0.0/0 ip daddr != { 169.254.0.0/16 } tcp dport 1-9 return',
      'drop',
    ])
    expect(chains.get('ingress_10_244_1_2')).toEqual(['return'])
  })

  it('drops everything where a policy has no rules or selects no pod', () => {
    const selectsNone = [{ podSelector: { matchLabels: { app: 'unknown' } } }]
    const chains = chainsOf([
      policy({ podSelector: {}, policyTypes: ['Ingress', 'Egress'], egress: [{ to: selectsNone }] }),
    ])
    expect(chains.get('ingress_10_244_1_2')).toEqual(['drop'])
    expect(chains.get('egress_10_244_1_2')).toEqual(['drop'])
    expect(chains.get('ingress_10_244_2_2')).toEqual(['return'])
  })
})
