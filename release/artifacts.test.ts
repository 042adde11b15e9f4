import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { findImageProblems, setImageRepository } from './chart.ts'
import { checksumsName, findChecksumProblems, writeChecksums } from './checksums.ts'
import { findLabelProblems } from './image.ts'
import { sourceUrl } from './release.ts'
import { findVersionProblems } from './versions.ts'

it('checksums detect changed, missing and additional files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'watchhouse-checksums-'))
  onTestFinished(() => rm(folder, { recursive: true }))
  for (const name of ['a', 'b', 'c']) await writeFile(join(folder, name), name)
  await writeChecksums(folder)
  expect(await readFile(join(folder, checksumsName), 'utf8')).toMatch(/^(?:[0-9a-f]{64} {2}[abc]\n){3}$/)
  expect(await findChecksumProblems(folder)).toEqual([])
  await writeFile(join(folder, 'a'), 'changed')
  await rm(join(folder, 'b'))
  await writeFile(join(folder, 'd'), 'd')
  expect(await findChecksumProblems(folder)).toEqual([
    '"b" is missing',
    '"a" differs from its checksum',
    '"d" has no checksum',
  ])
})

it('versions that differ from package.json are named with their place', () => {
  const versions = [
    { where: 'package.json', version: '0.1.0' },
    { where: 'helm/Chart.yaml (appVersion)', version: '0.0.9' },
    { where: 'services/Dockerfile', version: undefined },
    { where: 'package-lock.json', version: '0.1.0' },
  ]
  expect(findVersionProblems(versions)).toEqual([
    'version "0.0.9" in helm/Chart.yaml (appVersion) differs from "0.1.0" in package.json; set the same version',
    'version "" in services/Dockerfile differs from "0.1.0" in package.json; set the same version',
  ])
})

it('the image has the labels of the release', () => {
  const commit = { revision: 'a1b2', time: '2026-11-28T08:00:00Z' }
  const release = { version: '0.1.0', commit, changes: { version: '0.1.0', date: '2026-11-28', body: '' } }
  const values = { title: 'watchhouse', description: 'Monitors', licenses: 'Apache-2.0', source: sourceUrl }
  const own = { ...values, revision: 'a1b2', version: '0.1.0', created: commit.time }
  const labels = (named: Record<string, string>) =>
    Object.fromEntries(Object.entries(named).map(([name, value]) => [`org.opencontainers.image.${name}`, value]))
  const places = { registry: 'registry.example.com', folder: '' }
  expect(findLabelProblems(labels(own), { ...release, ...places })).toEqual([])
  expect(
    findLabelProblems(labels({ ...own, revision: 'unknown', description: '' }), { ...release, ...places }),
  ).toEqual([
    'label "org.opencontainers.image.description" of the image is ""; expected a text',
    'label "org.opencontainers.image.revision" of the image is "unknown"; expected "a1b2"',
  ])
})

it('the default image of the chart is the released one', () => {
  const values = 'image:\n  # Image of all services.\n  repository: watchhouse\n  tag: ""\n'
  expect(setImageRepository(values, 'registry.example.com/watchhouse')).toBe(
    'image:\n  # Image of all services.\n  repository: registry.example.com/watchhouse\n  tag: ""\n',
  )
  expect(() => setImageRepository('image: {}\n', 'registry.example.com/watchhouse')).toThrow(
    'helm/values.yaml has no line',
  )
})

it('rendered images are those that the chart lists', () => {
  const pod = (...images: string[]) =>
    `spec: { containers: [${images.map((image) => `{ image: '${image}' }`).join()}] }\n---\n`
  const released = 'registry.example.com/watchhouse:0.1.0'
  const listed = [{ image: released }, { image: 'nats:2' }]
  expect(findImageProblems(pod(released) + pod('nats:2', released), released, listed)).toEqual([])
  expect(findImageProblems(pod('watchhouse:0.1.0') + pod('nats:2'), released, listed)).toEqual([
    `no pod runs the image "${released}"`,
    'image "watchhouse:0.1.0" is not listed in the annotations of the chart',
  ])
})
