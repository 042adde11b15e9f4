// @module-tag long
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { dump, loadAll } from 'js-yaml'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { createProcessKeys } from '#shared/bus/testing/keys.ts'
import { buildDeclaredNatsAccounts } from '../../generate/chart/nats.ts'
import { hostsValuesFile, type RenderedObject, renderObjects, renderText } from '../../testing/chart/helm.ts'
import { listRenderedProcesses, type SecretValues } from '../../testing/chart/processes.ts'
import { validateManifest } from '../../testing/chart/validate-manifest.ts'
import { describeWith } from '../../testing/describe-with.ts'
import { guidePath, readGuideBlock } from '../../testing/guide-commands.ts'

vi.setConfig({ testTimeout: 120_000 })

/** Keys and values of a file with environment variables. */
type Variables = Record<string, string>

const Application = z.object({
  spec: z.object({ source: z.object({ helm: z.object({ valuesObject: z.looseObject({}) }) }) }),
})
const Release = z.object({ spec: z.object({ values: z.looseObject({}) }) })

const bus = 'signing-key=$secret'
const steps = '> step-2.env'

describeWith(['helm', 'kubeconform'], `the commands of ${guidePath}`, () => {
  let directory: string
  beforeAll(async () => void (directory = await mkdtemp(join(tmpdir(), 'watchhouse-guide-'))))
  afterAll(() => rm(directory, { recursive: true }))

  const runBlock = (text: string) => promisify(execFile)('bash', ['-euc', readGuideBlock(text)], { cwd: directory })
  const read = async (name: string): Promise<Variables> => {
    const lines = (await readFile(join(directory, name), 'utf8')).trimEnd().split('\n')
    return Object.fromEntries(
      lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    )
  }
  const writeValues = async (name: string, values: object): Promise<string> => {
    await writeFile(join(directory, name), dump(values))
    return join(directory, name)
  }
  const createBus = async (): Promise<Variables> => {
    await runBlock(bus)
    return read('bus.env')
  }
  /** Returns the variables of each process with this Secret for the bus; throws if a key is missing. */
  const processesWith = (objects: readonly RenderedObject[], busSecret: Variables): Map<string, Variables> => {
    const secrets: SecretValues = new Map<string, Variables>([
      ['watchhouse-bus', busSecret],
      ['watchhouse-redis', { 'redis-password': 'a' }],
      ['watchhouse-postgresql', { 'postgres-password': 'a' }],
      ['watchhouse-cron', { CRON_SECRET: 'a' }],
      ['watchhouse-encryption', { SVC_USER_CONNECTIONS_ENCRYPTION_KEY: 'a' }],
      ['clickhouse-passwords', { one: 'a' }],
      ['watchhouse-nats-tls', { 'tls.crt': 'a', 'tls.key': 'a', 'ca.crt': 'a' }],
    ])
    return new Map(listRenderedProcesses(objects, secrets).map(({ name, variables }) => [name, variables]))
  }
  const manifests = () => ['kind: Application', 'kind: HelmRelease'].map((kind) => readGuideBlock(kind)).join('\n---\n')

  it('create a Secret with a password for each NATS user and the keys of each service', async () => {
    const secret = await createBus()
    const users = [...Object.keys((await buildDeclaredNatsAccounts()).users), 'routes']
    expect(Object.keys(secret)).toEqual(expect.arrayContaining(users))
    const { 'signing-key': signing = '' } = secret
    expect(signing).toMatch(/^[0-9a-f]{64}$/)
    const processes = processesWith(await renderObjects([await gitOpsValues()]), secret)
    expect(processes.size).toBe(8)
    for (const [name, variables] of processes) expect(variables).toMatchObject(createProcessKeys([name], signing))
  })

  it('create the three states of a rotation of these keys', async () => {
    const old = await createBus()
    await writeFile(join(directory, 'old.env'), await readFile(join(directory, 'bus.env')))
    const { 'signing-key': signing = '' } = await createBus()
    await runBlock(steps)
    const objects = await renderObjects([await gitOpsValues()])
    for (const [step, secret, hasPrevious] of [
      ['step-1.env', old['signing-key'] ?? '', true],
      ['step-2.env', signing, true],
      ['step-3.env', signing, false],
    ] as const) {
      for (const [name, variables] of processesWith(objects, await read(step))) {
        const previous = createProcessKeys([name], old['signing-key'] ?? '')
        const expected = createProcessKeys([name], name === 'gateway' ? secret : signing)
        const isRotating = hasPrevious && name !== 'gateway'
        expect([step, name, variables]).toEqual([step, name, expect.objectContaining(expected)])
        for (const [variable, key] of Object.entries(previous))
          expect([step, name, variables[`${variable}_PREVIOUS`]]).toEqual([step, name, isRotating ? key : undefined])
        expect(variables['NATS_URL']).toContain(old[name] ?? 'no password')
      }
    }
  })

  it('include manifests of Argo CD and Flux that their schemas accept', async () => {
    const { code, output } = await validateManifest(manifests(), '1.35.0')
    expect({ code, output }).toEqual({ code: 0, output: expect.stringMatching(/Valid: 3, Invalid: 0, Errors: 0/) })
    const wrong = await validateManifest(manifests().replace('releaseName:', 'releaseNames:'), '1.35.0')
    expect(wrong.code).not.toBe(0)
  })

  const gitOpsValues = (): Promise<string> => {
    const { spec } = Application.parse(loadAll(readGuideBlock('kind: Application'))[0])
    return writeValues('application.yaml', spec.source.helm.valuesObject)
  }

  it('give both the same values, with which the chart generates no password', async () => {
    const [, release] = loadAll(readGuideBlock('kind: HelmRelease'))
    const values = Release.parse(release).spec.values
    const text = await renderText([await gitOpsValues()])
    expect(text).toBe(await renderText([await writeValues('release.yaml', values)]))
    expect(text).toBe(await renderText([await gitOpsValues()]))
    expect(text).not.toContain('name: watchhouse-generated')
  })

  it('copy every image of the chart', async () => {
    const [, list = ''] = /for image in (.+); do/.exec(readGuideBlock('docker push')) ?? []
    const used = (text: string) => new Set([...text.matchAll(/image: "?([^\s"]+)"?$/gm)].map(([, image]) => image))
    expect(used(await renderText([hostsValuesFile]))).toEqual(new Set(list.split(' ')))
    const values = await writeValues('internal.yaml', loadAll(readGuideBlock('registry.internal/watchhouse'))[0] ?? {})
    const internal = list.split(' ').map((image) => `registry.internal/${image}`)
    expect(used(await renderText([hostsValuesFile, values]))).toEqual(new Set(internal))
  })

  it('issue a certificate for every name of the NATS servers, and connect with TLS', async () => {
    await runBlock('openssl req -x509')
    const { stdout } = await promisify(execFile)(
      'openssl',
      ['x509', '-noout', '-ext', 'subjectAltName', '-in', 'tls.crt'],
      {
        cwd: directory,
      },
    )
    expect(stdout).toContain('DNS:watchhouse-nats, DNS:*.watchhouse-nats-pods')
    await promisify(execFile)('openssl', ['verify', '-CAfile', 'ca.crt', 'tls.crt'], { cwd: directory })
    const values = await writeValues('tls.yaml', loadAll(readGuideBlock('tls: { existingSecret'))[0] ?? {})
    const objects = await renderObjects([await gitOpsValues(), values], { 'nats.replicas': '3' })
    const services = objects.filter(({ kind }) => kind === 'Service').map(({ metadata }) => metadata.name)
    expect(services).toEqual(expect.arrayContaining(['watchhouse-nats', 'watchhouse-nats-pods']))
    for (const variables of processesWith(objects, await createBus()).values())
      expect(variables).toMatchObject({
        NATS_URL: expect.stringMatching(/^tls:.*@watchhouse-nats:4222$/),
        NODE_EXTRA_CA_CERTS: '/etc/watchhouse/certificates/ca.crt',
      })
  })
})
