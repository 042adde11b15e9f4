import type { AddressedPod, NetworkPolicy, Peer, Port, Rule, Selector } from './network-policy-objects.ts'

/** What a cluster contains that decides about its traffic. */
export interface ClusterTraffic {
  pods: readonly AddressedPod[]
  /** Labels by the name of the namespace. */
  namespaces: ReadonlyMap<string, Readonly<Record<string, string>>>
  policies: readonly NetworkPolicy[]
  /** The network of all pods. */
  podNetwork: string
}

/**
 * Returns commands for `nft` that replace the table with the NetworkPolicies. Pods that are not in `pods` can neither
 * send nor receive. A node can reach each pod.
 */
export const formatPolicyTable = (traffic: ClusterTraffic): string => {
  const known = `{ ${traffic.pods.map(({ address }) => address).join(', ')} }`
  const incoming = traffic.pods.map((pod) => formatChain(pod, 'Ingress', traffic))
  const outgoing = traffic.pods.map((pod) => formatChain(pod, 'Egress', traffic))
  const jump = (direction: Direction) => {
    const targets = traffic.pods.map(({ address }) => `${address} : jump ${nameChain(direction, address)}`)
    return `ip ${direction === 'Ingress' ? 'daddr' : 'saddr'} vmap { ${targets.join(', ')} }`
  }
  const established = 'ct state established,related accept'
  const unknown = ['saddr', 'daddr'].map((side) => `ip ${side} ${traffic.podNetwork} ip ${side} != ${known} drop`)
  const rules =
    traffic.pods.length === 0
      ? { forward: [], input: [] }
      : { forward: [...unknown, jump('Egress'), jump('Ingress')], input: [jump('Egress')] }
  return [
    'table inet policies',
    'delete table inet policies',
    'table inet policies {',
    ...incoming,
    ...outgoing,
    `chain forward { type filter hook forward priority 0; policy accept;\n${[established, ...rules.forward].join('\n')}\n}`,
    `chain input { type filter hook input priority 0; policy accept;\n${[established, ...rules.input].join('\n')}\n}`,
    '}',
    '',
  ].join('\n')
}

type Direction = 'Ingress' | 'Egress'

const nameChain = (direction: Direction, address: string): string =>
  `${direction.toLowerCase()}_${address.replaceAll('.', '_')}`

/** Returns the chain of the packets to or from a pod. It returns for allowed packets and drops the others. */
const formatChain = (pod: AddressedPod, direction: Direction, traffic: ClusterTraffic): string => {
  const own = traffic.policies.filter(
    ({ metadata, spec }) =>
      metadata.namespace === pod.namespace &&
      spec.policyTypes.includes(direction) &&
      matches(spec.podSelector, pod.labels),
  )
  const allowed = own.flatMap(({ spec }) =>
    (direction === 'Ingress' ? spec.ingress : spec.egress).flatMap((rule) => formatRule(rule, pod, direction, traffic)),
  )
  const lines = own.length === 0 ? ['return'] : [...allowed.map((match) => `${match}return`), 'drop']
  return `chain ${nameChain(direction, pod.address)} {\n${lines.join('\n')}\n}`
}

/** Returns one match for each combination of peer and port. */
const formatRule = (rule: Rule, pod: AddressedPod, direction: Direction, traffic: ClusterTraffic): string[] => {
  const [side, peers] = direction === 'Ingress' ? (['saddr', rule.from] as const) : (['daddr', rule.to] as const)
  const targets = direction === 'Ingress' ? [pod] : traffic.pods
  const ports = rule.ports.length === 0 ? [''] : rule.ports.flatMap((port) => formatPort(port, targets))
  return formatPeers(peers, side, pod.namespace, traffic).flatMap((peer) => ports.map((port) => `${peer}${port}`))
}

/** Returns the matches of a port. A named port has the numbers that the pods at the receiving end give it. */
const formatPort = ({ protocol, port, endPort }: Port, targets: readonly AddressedPod[]): string[] => {
  const layer = protocol.toLowerCase()
  if (port === undefined) return [`meta l4proto ${layer} `]
  if (typeof port === 'number') return [`${layer} dport ${endPort === undefined ? port : `${port}-${endPort}`} `]
  const numbers = new Set(targets.flatMap((pod) => pod.ports.get(port) ?? []))
  return [...numbers].map((number) => `${layer} dport ${number} `)
}

/** Returns the matches of the peers. No peers mean every address. IPv6 is left out, because the cluster has none. */
const formatPeers = (
  peers: readonly Peer[],
  side: 'saddr' | 'daddr',
  namespace: string,
  { pods, namespaces }: ClusterTraffic,
): string[] => {
  if (peers.length === 0) return ['']
  const isIpV4 = (block: string) => !block.includes(':')
  const blocks = peers.flatMap(({ ipBlock }) => {
    if (ipBlock === undefined || !isIpV4(ipBlock.cidr)) return []
    const except = ipBlock.except.filter(isIpV4)
    return [`ip ${side} ${ipBlock.cidr} ${except.length > 0 ? `ip ${side} != { ${except.join(', ')} } ` : ''}`]
  })
  const isSelected = (pod: AddressedPod) =>
    peers.some(({ ipBlock, namespaceSelector, podSelector }) => {
      if (ipBlock !== undefined) return false
      const isIn =
        namespaceSelector === undefined
          ? pod.namespace === namespace
          : matches(namespaceSelector, namespaces.get(pod.namespace) ?? {})
      return isIn && (podSelector === undefined || matches(podSelector, pod.labels))
    })
  const selected = pods.filter(isSelected).map(({ address }) => address)
  return selected.length === 0 ? blocks : [...blocks, `ip ${side} { ${selected.join(', ')} } `]
}

const matches = ({ matchLabels, matchExpressions }: Selector, labels: Readonly<Record<string, string>>): boolean =>
  Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
  matchExpressions.every(({ key, operator, values }) => {
    const value = labels[key]
    if (operator === 'Exists') return value !== undefined
    if (operator === 'DoesNotExist') return value === undefined
    return (value !== undefined && values.includes(value)) === (operator === 'In')
  })
