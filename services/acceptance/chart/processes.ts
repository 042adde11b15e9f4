import { z } from 'zod'
import type { Rendered } from './helm.ts'

const Variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .object({
      secretKeyRef: z.object({ name: z.string(), key: z.string() }).optional(),
      fieldRef: z.object({ fieldPath: z.literal('metadata.name') }).optional(),
    })
    .optional(),
})
const Deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    template: z.object({
      spec: z.object({
        terminationGracePeriodSeconds: z.number(),
        containers: z.tuple([
          z.object({ name: z.string(), args: z.array(z.string()).default([]), env: z.array(Variable) }),
        ]),
      }),
    }),
  }),
})
const ConfigMap = z.object({
  kind: z.literal('ConfigMap'),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()),
})

/** What one pod of a Deployment would run. */
export interface RenderedProcess {
  /** The component, such as `query-guest`. */
  name: string
  services: readonly string[]
  variables: Record<string, string>
}

/** Values by the name of a Secret and the key in it. */
export type Secrets = ReadonlyMap<string, Readonly<Record<string, string>>>

/** The content of a ConfigMap of a rendered chart. */
export const configMapOf = (objects: readonly Rendered[], name: string): Readonly<Record<string, string>> => {
  const found = objects.map((object) => ConfigMap.safeParse(object)).find(({ data }) => data?.metadata.name === name)
  if (found?.data === undefined) throw new Error(`no ConfigMap ${name} was rendered`)
  return found.data.data
}

/** Every process that the Deployments start, with the variables that Kubernetes would give it; throws for a Secret or key that is not there. */
export const processesOf = (objects: readonly Rendered[], secrets: Secrets): RenderedProcess[] =>
  objects.flatMap((object) => {
    const { success, data: deployment } = Deployment.safeParse(object)
    if (!success) return []
    const [{ name, args, env }] = deployment.spec.template.spec.containers
    const variables: Record<string, string> = {}
    for (const variable of env) variables[variable.name] = expanded(valueOf(variable, name, secrets), variables)
    return [{ name, services: args, variables }]
  })

const valueOf = ({ name, value, valueFrom }: z.infer<typeof Variable>, pod: string, secrets: Secrets): string => {
  if (valueFrom?.fieldRef) return pod
  if (!valueFrom?.secretKeyRef) return value ?? ''
  const { name: secret, key } = valueFrom.secretKeyRef
  const found = secrets.get(secret)?.[key]
  if (found === undefined) throw new Error(`${name} wants the key ${key} of the Secret ${secret}, which is not there`)
  return found
}

/** As Kubernetes does it: `$(NAME)` is the value of a variable that was stated before. */
const expanded = (value: string, known: Readonly<Record<string, string>>): string =>
  value.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => known[name] ?? whole)
