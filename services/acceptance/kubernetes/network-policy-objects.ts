import { z } from 'zod'

const Labels = z.record(z.string(), z.string()).default({})

const Selector = z.object({
  matchLabels: Labels,
  matchExpressions: z
    .array(
      z.object({
        key: z.string(),
        operator: z.enum(['In', 'NotIn', 'Exists', 'DoesNotExist']),
        values: z.array(z.string()).default([]),
      }),
    )
    .default([]),
})
export type Selector = z.infer<typeof Selector>

const Peer = z.object({
  ipBlock: z.object({ cidr: z.string(), except: z.array(z.string()).default([]) }).optional(),
  namespaceSelector: Selector.optional(),
  podSelector: Selector.optional(),
})
export type Peer = z.infer<typeof Peer>

const Port = z.object({
  protocol: z.string().default('TCP'),
  port: z.union([z.number(), z.string()]).optional(),
  endPort: z.number().optional(),
})
export type Port = z.infer<typeof Port>

const Rule = z.object({
  from: z.array(Peer).default([]),
  to: z.array(Peer).default([]),
  ports: z.array(Port).default([]),
})
export type Rule = z.infer<typeof Rule>

export const NetworkPolicy = z.object({
  metadata: z.object({ namespace: z.string() }),
  spec: z.object({
    podSelector: Selector.default({ matchLabels: {}, matchExpressions: [] }),
    policyTypes: z.array(z.enum(['Ingress', 'Egress'])).default(['Ingress']),
    ingress: z.array(Rule).default([]),
    egress: z.array(Rule).default([]),
  }),
})
export type NetworkPolicy = z.infer<typeof NetworkPolicy>

export const Pod = z.object({
  metadata: z.object({ name: z.string(), namespace: z.string(), labels: Labels }),
  spec: z.object({
    hostNetwork: z.boolean().default(false),
    containers: z.array(
      z.object({ ports: z.array(z.object({ name: z.string().optional(), containerPort: z.number() })).default([]) }),
    ),
  }),
  status: z.object({ phase: z.string(), podIP: z.string().optional() }),
})

/** A pod that has an address. */
export interface AddressedPod {
  name: string
  namespace: string
  labels: Readonly<Record<string, string>>
  address: string
  /** Its port numbers by name. */
  ports: ReadonlyMap<string, number>
}

/** Returns the running pods that have an address of their own, in the order of their addresses. */
export const listAddressedPods = (pods: readonly z.infer<typeof Pod>[]): AddressedPod[] =>
  pods
    .flatMap(({ metadata, spec, status }) => {
      if (spec.hostNetwork || status.podIP === undefined || !/^(Pending|Running)$/.test(status.phase)) return []
      const named = spec.containers.flatMap(({ ports }) => ports)
      const ports = new Map(named.map(({ name = '', containerPort }) => [name, containerPort]))
      return [{ ...metadata, address: status.podIP, ports }]
    })
    .toSorted((a, b) => (a.address < b.address ? -1 : 1))

export const Namespace = z.object({ metadata: z.object({ name: z.string(), labels: Labels }) })
