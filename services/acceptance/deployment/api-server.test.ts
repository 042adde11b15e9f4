// @module-tag long
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../../testing/describe-with.ts'
import { resolveChartToolsPath } from '../../testing/servers/server-source.ts'
import { type ApiServer, startApiServer } from '../../testing/chart/api-server.ts'
import {
  listOptionalValues,
  resolveProfilePath,
  profileValuesFiles,
  RenderedObject,
  renderText,
  runChartTool,
  hostsValuesFile,
} from '../../testing/chart/helm.ts'

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 })

const Given = RenderedObject.extend({ apiVersion: z.string() })
type Given = z.infer<typeof Given>

const Template = z.object({
  metadata: z.looseObject({}).optional(),
  spec: z.looseObject({ volumes: z.array(z.unknown()).default([]) }),
})
const Workload = z.object({
  template: Template,
  volumeClaimTemplates: z.array(z.object({ metadata: z.object({ name: z.string() }) })).default([]),
})
const Spec = z.union([Workload, z.object({ jobTemplate: z.object({ spec: Workload }) }).transform(jobOf)])

describeWith(['kube-apiserver', 'etcd', 'helm', 'kustomize'], 'objects that the API server accepts', () => {
  let server: ApiServer
  beforeAll(async () => {
    server = await startApiServer()
    for (const file of await readdir(resolveChartToolsPath('kinds'))) {
      for (const kind of objectsOf(await readFile(join(resolveChartToolsPath('kinds'), file), 'utf8'))) {
        const objection = await server.apply(kind)
        if (objection) throw new Error(objection)
      }
    }
  })
  afterAll(() => server?.[Symbol.asyncDispose]())

  /** Applies the objects and the pods of their controllers. Returns the errors and warnings of the API server. */
  const objections = async (objects: readonly Given[], namespace: string, level: string) => {
    const labels = { 'pod-security.kubernetes.io/enforce': level, 'pod-security.kubernetes.io/warn': level }
    const metadata = { name: namespace, labels }
    const found = [await server.apply({ apiVersion: 'v1', kind: 'Namespace', metadata })]
    for (const object of objects) {
      found.push(await server.apply({ ...object, metadata: { ...object.metadata, namespace } }, namespace))
      const pod = podOf(object)
      if (pod) found.push(await server.apply(pod, namespace, 'trial'))
    }
    return found.filter((one) => one !== undefined)
  }

  it.each(profileValuesFiles)('include %s, with its pods in a restricted namespace', async (name) => {
    const objects = objectsOf(await renderText([resolveProfilePath(name), hostsValuesFile], listOptionalValues(name)))
    expect(objects.flatMap((object) => podOf(object) ?? []).length).toBeGreaterThan(2)
    expect(await objections(objects, name.replaceAll('.', '-'), 'restricted')).toEqual([])
  })

  it('include the development servers', async () => {
    const { output } = await runChartTool('kustomize', ['build', 'k8s/dev'])
    expect(await objections(objectsOf(output), 'development', 'baseline')).toEqual([])
  })

  it('exclude pods that may become root, and unknown fields', async () => {
    const metadata = { name: 'of-root' }
    const pod = { apiVersion: 'v1', kind: 'Pod', metadata, spec: { containers: [{ name: 'a', image: 'a' }] } }
    expect(await objections([pod], 'refused', 'restricted')).toEqual([expect.stringContaining('runAsNonRoot')])
    const service = { apiVersion: 'v1', kind: 'Service', metadata, spec: { prots: [] } }
    expect(await objections([service], 'refused', 'restricted')).toEqual([expect.stringContaining('prots')])
  })
})

const objectsOf = (text: string): Given[] =>
  loadAll(text)
    .filter((one) => one != null)
    .map((one) => Given.parse(one))

function jobOf({ jobTemplate }: { jobTemplate: { spec: z.infer<typeof Workload> } }): z.infer<typeof Workload> {
  return jobTemplate.spec
}

/** Returns the pod that a controller would create, with empty directories in place of its volume claims. */
const podOf = (object: Given): Given | undefined => {
  const { success, data } = Spec.safeParse(object.spec)
  if (!success) return undefined
  const { template, volumeClaimTemplates } = data
  const volumes = volumeClaimTemplates.map(({ metadata }) => ({ name: metadata.name, emptyDir: {} }))
  const spec = { ...template.spec, volumes: [...template.spec.volumes, ...volumes] }
  return { apiVersion: 'v1', kind: 'Pod', metadata: { ...template.metadata, name: object.metadata.name }, spec }
}
