// @module-tag long
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { loadAll } from 'js-yaml'
import { expect, it, vi } from 'vitest'
import { z } from 'zod'
import { serviceNames } from '#proto/call.ts'
import { deriveKey } from '#shared/bus/signatures.ts'
import { formatCallKeys, createProcessKeys } from '#shared/bus/testing/keys.ts'
import { findStartProblems } from '#shared/lifecycle/start-problems.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { resolveChartToolsPath } from '../../testing/servers/server-source.ts'
import { root } from '../../testing/source-file.ts'
import { validateManifest } from '../../testing/chart/validate-manifest.ts'
import { importServiceConfig } from '../../generate/chart/services.ts'
import {
  listOptionalValues,
  resolveProfilePath,
  profileValuesFiles,
  renderObjects,
  RenderedObject,
  renderText,
  runChartTool,
  hostsValuesFile,
} from '../../testing/chart/helm.ts'
import { listRenderedProcesses } from '../../testing/chart/processes.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Components whose services call other services on their own behalf. */
const callers = ['agent', 'mcp', 'alert-dispatcher', 'report']

const GeneratedSecret = z.object({ data: z.record(z.string(), z.string()) })

describeWith(['helm', 'kubeconform', 'kustomize'], 'deployed manifests', () => {
  it.each(profileValuesFiles)('%s passes helm lint', async (name) => {
    const { code, output } = await runChartTool('helm', [
      'lint',
      '--strict',
      'helm',
      '-f',
      resolveProfilePath(name),
      '-f',
      hostsValuesFile,
    ])
    expect({ code, output }).toEqual({ code: 0, output: expect.stringContaining('0 chart(s) failed') })
  })

  it.each(profileValuesFiles)('%s is valid for every supported Kubernetes release', async (name) => {
    const versions = (await readdir(resolveChartToolsPath('schemas'))).map((version) => version.replace('v', ''))
    expect(versions.length).toBeGreaterThan(2)
    const manifest = await renderText([resolveProfilePath(name), hostsValuesFile], listOptionalValues(name))
    for (const version of versions) {
      const { code, output } = await validateManifest(manifest, version)
      expect({ version, code, output }).toEqual({
        version,
        code: 0,
        output: expect.stringMatching(/Invalid: 0, Errors: 0/),
      })
    }
  })

  it('an invalid manifest is rejected', async () => {
    const manifest = 'apiVersion: v1\nkind: Service\nmetadata: { name: a }\nspec: { prots: [] }\n'
    const { code, output } = await validateManifest(manifest, '1.35.0')
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining('prots') })
  })

  it.each([
    ['gateway.networking.k8s.io/v1', 'HTTPRoute', 'spec: { hostname: a }', 'hostname'],
    [
      'keda.sh/v1alpha1',
      'ScaledObject',
      'spec: { scaleTargetRef: { name: a }, triggers: [], cooldown: 3 }',
      'cooldown',
    ],
    ['monitoring.coreos.com/v1', 'PodMonitor', 'spec: { selector: {}, endpoints: [] }', 'endpoints'],
    ['monitoring.coreos.com/v1', 'PrometheusRule', 'spec: { groups: [{ name: a, rules: [{ alert: a }] }] }', 'expr'],
  ])('refuses what no %s takes: a %s', async (version, kind, spec, named) => {
    const manifest = `apiVersion: ${version}\nkind: ${kind}\nmetadata: { name: a }\n${spec}\n`
    const { code, output } = await validateManifest(manifest, '1.35.0')
    expect({ code, output }).toEqual({ code: 1, output: expect.stringContaining(named) })
  })

  it('kustomize builds the development servers', async () => {
    const { code, output } = await runChartTool('kustomize', ['build', 'k8s/dev'])
    expect(code, output).toBe(0)
    expect((await validateManifest(output, '1.35.0')).code).toBe(0)
    for (const name of [
      'nats',
      'redis',
      'postgresql',
      'clickhouse-a',
      'clickhouse-b',
      'clickhouse-keeper',
      'model-gateway',
    ]) {
      expect(output).toContain(`name: ${name}\n`)
    }
  })

  it('the chart accepts the development values, and the services accept the rendered variables', async () => {
    const own = loadAll(await readFile(join(root, 'k8s/dev/secrets.yaml'), 'utf8')).map((one) =>
      RenderedObject.parse(one),
    )
    const processes = listRenderedProcesses([...own, ...(await renderObjects(['k8s/dev/values.yaml']))], new Map())
    expect(processes.map(({ name }) => name)).toEqual(expect.arrayContaining([...serviceNames]))
    for (const { name, services, variables, files } of processes) {
      const chosen = serviceNames.filter((known) => services.includes(known))
      const elsewhere = serviceNames.filter((known) => !services.includes(known))
      const plan = { configs: await Promise.all(chosen.map(importServiceConfig)), chosen, elsewhere }
      // Ignores problems of variables that name mounted files, because these files exist only in the pod.
      const problems = findStartProblems(plan, variables).filter((one) => !files.has(variables[one.name] ?? ''))
      expect([name, problems]).toEqual([name, []])
    }
    expect(processes.find(({ name }) => name === 'gateway')?.variables.NATS_URL).toBe(
      'nats://gateway:gateway@nats:4222',
    )
  })

  it('each pod gets only its own bus keys, derived from the secret that only gateway gets', async () => {
    const objects = await renderObjects([hostsValuesFile])
    const name = 'watchhouse-generated'
    const data = GeneratedSecret.parse(objects.find((one) => one.kind === 'Secret' && one.metadata.name === name)).data
    const given = Object.fromEntries(
      Object.entries(data).map(([key, text]) => [key, Buffer.from(text, 'base64').toString()]),
    )
    const secret = given['signing-key'] ?? ''
    const pods = listRenderedProcesses(objects, new Map([[name, given]]))
    expect(pods).toHaveLength(serviceNames.length + 1)
    for (const { name: pod, variables, files } of pods) {
      const keysGiven = Object.entries(variables).filter(([variable]) => /^NATS_.*KEY/.test(variable))
      expect(Object.fromEntries(keysGiven), pod).toEqual(createProcessKeys([pod], secret))
      const everything = JSON.stringify([Object.values(variables), [...files.values()]])
      const keys = Object.entries(given).filter(([key]) => /^(signing-key$|verification-key-|call-keys-)/.test(key))
      expect(keys).toHaveLength(pods.length + callers.length)
      const held = keys.filter(([, value]) => everything.includes(value)).map(([key]) => key)
      const own = pod === 'gateway' ? ['signing-key'] : [`verification-key-${pod}`]
      expect(held.toSorted(), pod).toEqual([...(callers.includes(pod) ? [`call-keys-${pod}`] : []), ...own])
    }
    const rotated = {
      ...given,
      'verification-key-report-previous': deriveKey('report', 'before'),
      'call-keys-report-previous': formatCallKeys('report', 'before'),
    }
    const report = listRenderedProcesses(objects, new Map([[name, rotated]])).find((pod) => pod.name === 'report')
    expect(report?.variables).toMatchObject({
      NATS_VERIFICATION_KEY_PREVIOUS: deriveKey('report', 'before'),
      NATS_CALL_KEYS_PREVIOUS: formatCallKeys('report', 'before'),
    })
  })

  it('an error message names the invalid value', async () => {
    await expect(renderText([hostsValuesFile], { topology: 'several' })).rejects.toThrow(/topology/)
  })
})

describeWith(['helm-unittest'], 'the helm-unittest suites', () => {
  it('pass, including snapshots', async () => {
    const { code, output } = await runChartTool('helm-unittest', ['helm'])
    expect(code, output).toBe(0)
    const total = Number(/Tests:\s+(\d+) passed, \d+ total/.exec(output)?.[1])
    const stated = await Promise.all(
      (await readdir(join(root, 'helm/tests')))
        .filter((file) => file.endsWith('_test.yaml'))
        .map((file) => readFile(join(root, 'helm/tests', file), 'utf8')),
    )
    expect(total).toBe(stated.join('\n').match(/^  - it: /gm)?.length)
  })
})
