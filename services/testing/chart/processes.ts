import { z } from 'zod'
import type { RenderedObject } from './helm.ts'

const Variable = z.object({
  name: z.string(),
  value: z.string().optional(),
  valueFrom: z
    .object({
      secretKeyRef: z.object({ name: z.string(), key: z.string(), optional: z.boolean().optional() }).optional(),
      fieldRef: z.object({ fieldPath: z.literal('metadata.name') }).optional(),
    })
    .optional(),
})
const Items = z.array(z.object({ key: z.string(), path: z.string() })).optional()
const Volume = z.object({
  name: z.string(),
  configMap: z.object({ name: z.string(), items: Items }).optional(),
  secret: z.object({ secretName: z.string(), items: Items }).optional(),
})
const Container = z.object({
  name: z.string(),
  args: z.array(z.string()).default([]),
  env: z.array(Variable),
  volumeMounts: z.array(z.object({ name: z.string(), mountPath: z.string(), subPath: z.string().optional() })),
})
const Deployment = z.object({
  kind: z.literal('Deployment'),
  metadata: z.object({ name: z.string() }),
  spec: z.object({
    replicas: z.number().default(1),
    template: z.object({ spec: z.object({ containers: z.tuple([Container]), volumes: z.array(Volume) }) }),
  }),
})
const ConfigMap = z.object({
  kind: z.literal('ConfigMap'),
  metadata: z.object({ name: z.string() }),
  data: z.record(z.string(), z.string()),
})
const Secret = z.object({
  kind: z.literal('Secret'),
  metadata: z.object({ name: z.string() }),
  stringData: z.record(z.string(), z.string()),
})

/** The process in the pods of a Deployment. */
export interface RenderedProcess {
  /** The component, for example `query-guest`. */
  name: string
  replicas: number
  services: readonly string[]
  variables: Record<string, string>
  /** Mounted files by absolute path. */
  files: ReadonlyMap<string, string>
}

/** Values of Secrets or ConfigMaps, by object name and key. */
export type SecretValues = ReadonlyMap<string, Readonly<Record<string, string>>>

/** Returns the data of a rendered ConfigMap. Throws if the chart does not render it. */
export const findConfigMap = (objects: readonly RenderedObject[], name: string): Readonly<Record<string, string>> =>
  requireEntry(configMapsOf(objects), name)

/**
 * Returns the process of each Deployment with the variables and files that Kubernetes would give it. Throws if a
 * Secret, a ConfigMap or a key is neither rendered nor in `existing`.
 */
export const listRenderedProcesses = (
  objects: readonly RenderedObject[],
  existing: SecretValues,
): RenderedProcess[] => {
  const configMaps = configMapsOf(objects)
  const secrets: SecretValues = new Map([
    ...namedContents(objects, Secret, ({ stringData }) => stringData),
    ...existing,
  ])
  return objects.flatMap((object) => {
    const { success, data: deployment } = Deployment.safeParse(object)
    if (!success) return []
    const { replicas, template } = deployment.spec
    const [container] = template.spec.containers
    const { name, args: services, env } = container
    const variables: Record<string, string> = {}
    for (const variable of env) {
      const value = valueOf(variable, name, secrets)
      if (value !== undefined) variables[variable.name] = expandVariables(value, variables)
    }
    const files = mountedFiles(container, template.spec.volumes, { configMaps, secrets })
    return [{ name, replicas, services, variables, files }]
  })
}

const configMapsOf = (objects: readonly RenderedObject[]): SecretValues =>
  new Map(namedContents(objects, ConfigMap, ({ data }) => data))

const namedContents = <T extends { metadata: { name: string } }>(
  objects: readonly RenderedObject[],
  kind: z.ZodType<T>,
  content: (object: T) => Readonly<Record<string, string>>,
) =>
  objects.flatMap((object) => {
    const { data } = kind.safeParse(object)
    return data === undefined ? [] : [[data.metadata.name, content(data)] as const]
  })

const valueOf = (
  { value, valueFrom }: z.infer<typeof Variable>,
  pod: string,
  secrets: SecretValues,
): string | undefined => {
  if (valueFrom?.fieldRef) return pod
  if (!valueFrom?.secretKeyRef) return value ?? ''
  const { name, key, optional } = valueFrom.secretKeyRef
  if (optional && secrets.get(name)?.[key] === undefined) return undefined
  return requireEntry(new Map(Object.entries(requireEntry(secrets, name))), key, `${name}.`)
}

/** Expands `$(NAME)` to the value of an earlier variable, as Kubernetes does. */
const expandVariables = (value: string, known: Readonly<Record<string, string>>): string =>
  value.replaceAll(/\$\((\w+)\)/g, (whole, name: string) => known[name] ?? whole)

const mountedFiles = (
  { volumeMounts }: z.infer<typeof Container>,
  volumes: readonly z.infer<typeof Volume>[],
  { configMaps, secrets }: { configMaps: SecretValues; secrets: SecretValues },
): Map<string, string> => {
  const files = new Map<string, string>()
  for (const { name, mountPath, subPath } of volumeMounts) {
    const { configMap, secret } = volumes.find((volume) => volume.name === name) ?? {}
    const content = configMap
      ? requireEntry(configMaps, configMap.name)
      : secret && requireEntry(secrets, secret.secretName)
    // All other volumes are empty folders.
    if (content === undefined) continue
    const items = (configMap ?? secret)?.items ?? Object.keys(content).map((key) => ({ key, path: key }))
    for (const { key, path } of items.filter((item) => subPath === undefined || item.path === subPath)) {
      files.set(subPath ? mountPath : `${mountPath}/${path}`, requireEntry(new Map(Object.entries(content)), key))
    }
  }
  return files
}

const requireEntry = <T>(values: ReadonlyMap<string, T>, name: string, where = ''): T => {
  const found = values.get(name)
  if (found === undefined)
    throw new Error(`the chart refers to "${where}${name}", which is neither rendered nor provided by the test`)
  return found
}
