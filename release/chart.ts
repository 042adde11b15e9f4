import { cp, mkdtempDisposable, readFile, readdir, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dump, load, loadAll } from 'js-yaml'
import { z } from 'zod'
import { formatChartReadme } from '../services/generate/chart/readme.ts'
import { parseValueEntries } from '../services/generate/chart/values-file.ts'
import { hostsValuesFile, profileValuesFiles, resolveProfilePath } from '../services/testing/chart/helm.ts'
import { root } from '../services/testing/source-file.ts'
import { listChanges } from './changelog.ts'
import type { ReleaseOptions } from './options.ts'
import { runProgram } from './program.ts'
import { exampleRegistry, nameArtifact, nameImage, nameImageRepository, type Release, sourceUrl } from './release.ts'

const Metadata = z.looseObject({
  version: z.string(),
  appVersion: z.string(),
  annotations: z.record(z.string(), z.string()).default({}),
})
const Server = z.looseObject({ image: z.string() })
const Values = z.looseObject({ nats: Server, redis: Server, postgresql: Server })
const Images = z.array(z.object({ name: z.string(), image: z.string() }))

const runHelm = (...parameters: string[]): Promise<string> => runProgram('helm', parameters)

/** Returns the path of the chart package. */
export const resolveChartPath = (release: Release): string => join(release.folder, nameArtifact(release, '.tgz'))

/** Packages the chart with the image of the release as its default, and signs it if there is a key. */
export const packageChart = async (release: Release, signature: ReleaseOptions['signature']): Promise<void> => {
  await using temporary = await mkdtempDisposable(join(tmpdir(), 'watchhouse-chart-'))
  const folder = join(temporary.path, 'watchhouse')
  await cp(join(root, 'helm'), folder, { recursive: true })
  await writeReleasedFiles(folder, release)
  await setTimes(folder, release.commit.time)
  const key = signature ? ['--sign', '--key', signature.key, '--keyring', signature.keyring] : []
  const passphrase = signature?.passphraseFile ? ['--passphrase-file', signature.passphraseFile] : []
  await runHelm('package', folder, '--destination', release.folder, ...key, ...passphrase)
}

/** Sets the time of all files, which the package contains, so that every package of a commit is the same. */
const setTimes = async (folder: string, time: string): Promise<void> => {
  const date = new Date(time)
  for (const path of ['.', ...(await readdir(folder, { recursive: true }))])
    await utimes(join(folder, path), date, date)
}

const writeReleasedFiles = async (folder: string, release: Release): Promise<void> => {
  const read = (name: string) => readFile(join(folder, name), 'utf8')
  const values = setImageRepository(await read('values.yaml'), nameImageRepository(release))
  await writeFile(join(folder, 'values.yaml'), values)
  const introduction = fillPlaceholders(await read('INTRODUCTION.md'), release)
  await writeFile(join(folder, 'INTRODUCTION.md'), introduction)
  await writeFile(join(folder, 'README.md'), formatChartReadme(introduction, parseValueEntries(values)))
  const metadata = describeChart(Metadata.parse(load(await read('Chart.yaml'))), Values.parse(load(values)), release)
  await writeFile(join(folder, 'Chart.yaml'), dump(metadata, { lineWidth: -1 }))
}

const fillPlaceholders = (text: string, { registry, version }: Release): string =>
  text.replaceAll(exampleRegistry, registry).replaceAll('<version>', version)

/** Returns the values file with another default image. Only the default differs, so that comments and order remain. */
export const setImageRepository = (values: string, repository: string): string => {
  const line = /^ {2}repository: watchhouse$/gm
  if (values.match(line)?.length !== 1) throw new Error('helm/values.yaml has no line "  repository: watchhouse"')
  return values.replace(line, `  repository: ${repository}`)
}

/** Returns the metadata of the chart with annotations for Artifact Hub and for the manifest in the registry. */
const describeChart = (
  metadata: z.infer<typeof Metadata>,
  { nats, redis, postgresql }: z.infer<typeof Values>,
  release: Release,
) => {
  const changes = listChanges(release.changes.body)
  const images = [
    { name: 'watchhouse', image: nameImage(release) },
    { name: 'nats', image: nats.image },
    { name: 'redis', image: redis.image },
    { name: 'postgresql', image: postgresql.image },
  ]
  const annotations = {
    'artifacthub.io/images': dump(images),
    'artifacthub.io/changes': dump(changes, { lineWidth: -1 }),
    'artifacthub.io/prerelease': String(release.version.includes('-')),
    'artifacthub.io/containsSecurityUpdates': String(changes.some(({ kind }) => kind === 'security')),
    'org.opencontainers.image.licenses': 'Apache-2.0',
    'org.opencontainers.image.revision': release.commit.revision,
  }
  return {
    ...metadata,
    home: sourceUrl,
    sources: [sourceUrl],
    annotations: { ...metadata.annotations, ...annotations },
  }
}

/** Lints and renders every profile of the package. Returns profiles with other images than those of the release. */
export const checkChart = async (release: Release): Promise<string[]> => {
  const chart = resolveChartPath(release)
  const metadata = Metadata.parse(load(await runHelm('show', 'chart', chart)))
  const listed = Images.parse(load(metadata.annotations['artifacthub.io/images'] ?? ''))
  const problems = [metadata.version, metadata.appVersion]
    .filter((version) => version !== release.version)
    .map((version) => `chart package has version "${version}"`)
  for (const profile of profileValuesFiles) {
    const values = ['--values', resolveProfilePath(profile), '--values', hostsValuesFile]
    // The values file of the default profile is that of the package, which has the released image.
    const parameters = profile === 'values.yaml' ? values.slice(2) : values
    await runHelm('lint', '--strict', chart, ...parameters)
    const manifest = await runHelm('template', 'watchhouse', chart, '--namespace', 'watchhouse', ...parameters)
    problems.push(...findImageProblems(manifest, nameImage(release), listed).map((problem) => `${profile}: ${problem}`))
  }
  return problems
}

/** Returns images that the chart does not list, and whether the image of the release is missing. */
export const findImageProblems = (manifest: string, image: string, listed: readonly { image: string }[]): string[] => {
  const rendered = new Set(loadAll(manifest).flatMap(listImages))
  const unlisted = [...rendered].filter((one) => !listed.some((other) => other.image === one))
  return [
    ...(rendered.has(image) ? [] : [`no pod runs the image "${image}"`]),
    ...unlisted.map((one) => `image "${one}" is not listed in the annotations of the chart`),
  ]
}

const listImages = (value: unknown): string[] => {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([name, inner]) =>
    name === 'image' && typeof inner === 'string' ? [inner] : listImages(inner),
  )
}

/** Verifies the signature of the package with the keyring that signed it. */
export const verifyChart = async (release: Release, keyring: string): Promise<void> => {
  await runHelm('verify', resolveChartPath(release), '--keyring', keyring)
}
