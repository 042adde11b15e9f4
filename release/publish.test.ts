// @module-tag long
import { execFileSync } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { afterAll, beforeAll, expect, it, onTestFinished, vi } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../services/testing/describe-with.ts'
import { fetchJson } from '../services/testing/fetch-json.ts'
import { startProcess } from '../services/testing/servers/process.ts'
import { requireProgram, runProgram } from './program.ts'
import { checkChart, packageChart, resolveChartPath, verifyChart } from './chart.ts'
import { hashFile } from './checksums.ts'
import { comparePulledChart, hasCosign, pushChart, signArtifacts } from './publish.ts'
import type { Release } from './release.ts'

vi.setConfig({ testTimeout: 120_000, hookTimeout: 60_000 })

const manifestType = 'application/vnd.oci.image.manifest.v1+json'
const Manifest = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string() })),
  annotations: z.record(z.string(), z.string()),
})

const startRegistry = () =>
  startProcess({
    program: requireProgram('docker-registry'),
    prepare: (directory, port) =>
      writeFile(
        join(directory, 'registry.yaml'),
        JSON.stringify({
          version: 0.1,
          storage: { filesystem: { rootdirectory: join(directory, 'data') } },
          http: { addr: `127.0.0.1:${port}` },
        }),
      ),
    arguments: (directory) => ['serve', join(directory, 'registry.yaml')],
    url: (port) => `http://localhost:${port}`,
    answers: async (url) => void (await fetchJson(`${url}/v2/`)),
  })

describeWith(['helm', 'docker-registry', 'gpg'], 'a chart in a registry', () => {
  const scope = new AsyncDisposableStack()
  let release: Release
  let url: string
  let keyring: string
  beforeAll(async () => {
    const folder = await mkdtemp(join(tmpdir(), 'watchhouse-push-'))
    scope.defer(() => rm(folder, { recursive: true, force: true }))
    keyring = await createKeyring(join(folder, 'keys'))
    ;({ url } = scope.use(await startRegistry()))
    const { version } = JSON.parse(await readFile('package.json', 'utf8'))
    const changes = { version, date: '2026-11-28', body: '### Fixed\n\n- A leak.' }
    const commit = { revision: 'a1b2', time: '2026-11-28T08:00:00Z' }
    release = {
      version,
      commit,
      changes,
      registry: `${url.replace('http://', '')}/team`,
      folder: join(folder, 'files'),
    }
    await mkdir(release.folder)
  })
  afterAll(() => scope.disposeAsync())

  it('is the same in every package of a commit', async () => {
    await packageChart(release, undefined)
    const first = await hashFile(resolveChartPath(release))
    await packageChart(release, undefined)
    expect(await hashFile(resolveChartPath(release))).toBe(first)
  })

  it('is signed, pushed with its provenance, and pulled unchanged', async () => {
    await packageChart(release, { key: 'release@example.com', keyring, passphraseFile: undefined })
    expect(await readdir(release.folder)).toEqual([
      `watchhouse-${release.version}.tgz`,
      `watchhouse-${release.version}.tgz.prov`,
    ])
    expect(await checkChart(release)).toEqual([])
    await verifyChart(release, keyring)
    const readme = await runProgram('helm', ['show', 'readme', resolveChartPath(release)])
    expect(readme).toContain(`oci://${release.registry}/charts/watchhouse --version ${release.version} `)
    const pushed = await pushChart(release)
    expect(pushed.name).toBe(`${release.registry}/charts/watchhouse`)
    expect(await comparePulledChart(release)).toEqual([])

    const path = `/v2/team/charts/watchhouse/manifests/${release.version}`
    const { text, headers } = await fetchJson(`${url}${path}`, { headers: { accept: manifestType } })
    expect(headers.get('docker-content-digest')).toBe(pushed.digest)
    const { layers, annotations } = Manifest.parse(JSON.parse(text))
    expect(layers.map(({ mediaType }) => mediaType).toSorted()).toEqual([
      'application/vnd.cncf.helm.chart.content.v1.tar+gzip',
      'application/vnd.cncf.helm.chart.provenance.v1.prov',
    ])
    expect(annotations).toMatchObject({
      'org.opencontainers.image.version': release.version,
      'org.opencontainers.image.revision': 'a1b2',
      'org.opencontainers.image.licenses': 'Apache-2.0',
      'org.opencontainers.image.source': 'https://github.com/watchhouse/watchhouse',
    })
  })

  it('is rejected after a change', async () => {
    const changed = Buffer.concat([await readFile(resolveChartPath(release)), Buffer.from('changed')])
    await writeFile(resolveChartPath(release), changed)
    await expect(verifyChart(release, keyring)).rejects.toThrow('sha256 sum does not match')
    expect(await comparePulledChart(release)).toEqual(['pulled chart differs from the package'])
  })
})

/** Creates a PGP key without a passphrase. Returns a keyring in the format that helm reads. */
const createKeyring = async (folder: string): Promise<string> => {
  await mkdir(folder, { mode: 0o700 })
  const gpg = (...parameters: string[]) => execFileSync('gpg', ['--homedir', folder, '--batch', ...parameters])
  gpg(
    '--quiet',
    '--passphrase',
    '',
    '--quick-generate-key',
    'Release <release@example.com>',
    'rsa2048',
    'sign',
    'never',
  )
  const keyring = join(folder, 'keyring.gpg')
  await writeFile(keyring, gpg('--export-secret-keys'), { mode: 0o600 })
  execFileSync('gpgconf', ['--homedir', folder, '--kill', 'gpg-agent'])
  return keyring
}

it('pushed artifacts are signed by digest, without questions', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-cosign-'))
  const path = process.env.PATH
  onTestFinished(async () => {
    process.env.PATH = path
    await rm(folder, { recursive: true })
  })
  process.env.PATH = folder
  expect(hasCosign()).toBe(false)
  await writeFile(join(folder, 'cosign'), `#!/bin/sh\necho "$@" >>${folder}/calls\n`, { mode: 0o755 })
  process.env.PATH = [folder, path].join(delimiter)
  expect(hasCosign()).toBe(true)
  await signArtifacts([{ name: 'registry.example.com/watchhouse', digest: 'sha256:1' }], undefined)
  await signArtifacts([{ name: 'registry.example.com/charts/watchhouse', digest: 'sha256:2' }], 'env://KEY')
  expect(await readFile(join(folder, 'calls'), 'utf8')).toBe(
    'sign --yes registry.example.com/watchhouse@sha256:1\n' +
      'sign --yes --key env://KEY registry.example.com/charts/watchhouse@sha256:2\n',
  )
})
