import { chmod, mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { z } from 'zod'
import { retryUntil } from '../services/testing/fetch-json.ts'
import { root } from '../services/testing/source-file.ts'
import { runProgram } from './program.ts'
import { nameArtifact, nameImage, type Release, sourceUrl } from './release.ts'
import { nameTag } from './repository.ts'
import { findSbomProblems } from './sbom.ts'
import { parseServedVersion, unreachableHost } from './versions.ts'

const startsWithinMs = 60_000
const definitions = 'enabled: true\nwindowMinutes: 15\n'
const Labels = z.record(z.string(), z.string())

const runDocker = async (...parameters: string[]): Promise<string> => (await runProgram('docker', parameters)).trim()

/** Builds the image of the checked-out commit. The time of the build is that of the commit. */
export const buildImage = async (release: Release, base: string | undefined): Promise<void> => {
  const { version, commit } = release
  const values = {
    ...(base !== undefined && { BASE: base }),
    VERSION: version,
    REVISION: commit.revision,
    CLIENT_GIT_SHA: commit.revision,
    CLIENT_GIT_REF: nameTag(version),
    CLIENT_BUILD_TIMESTAMP: commit.time,
  }
  const variables = Object.entries(values).flatMap(([name, value]) => ['--build-arg', `${name}=${value}`])
  const labels = ['--label', `org.opencontainers.image.created=${commit.time}`]
  const output = ['--file', 'services/Dockerfile', '--tag', nameImage(release)]
  await runDocker('build', '--network', 'host', ...variables, ...labels, ...output, '.')
}

/** Returns the labels that differ from those of the release. */
export const findLabelProblems = (labels: Readonly<Record<string, string>>, { version, commit }: Release): string[] => {
  const expected: Record<string, string | undefined> = {
    title: 'watchhouse',
    // The description may change between releases.
    description: undefined,
    licenses: 'Apache-2.0',
    source: sourceUrl,
    revision: commit.revision,
    version,
    created: commit.time,
  }
  return Object.entries(expected).flatMap(([name, value]) => {
    const label = labels[`org.opencontainers.image.${name}`] ?? ''
    if (value === undefined ? label !== '' : label === value) return []
    const wanted = value === undefined ? 'a text' : `"${value}"`
    return [`label "org.opencontainers.image.${name}" of the image is "${label}"; expected ${wanted}`]
  })
}

export const checkLabels = async (release: Release): Promise<string[]> => {
  const inspected = await runDocker('image', 'inspect', '--format', '{{json .Config.Labels}}', nameImage(release))
  return findLabelProblems(Labels.parse(JSON.parse(inspected) ?? {}), release)
}

/** Copies the SBOMs out of the image. */
export const extractSboms = async (release: Release): Promise<void> => {
  await using container = await createContainer(release)
  for (const format of ['spdx', 'cdx']) {
    const target = join(release.folder, nameArtifact(release, `.${format}.json`))
    await runDocker('cp', `${container.id}:/watchhouse/sbom.${format}.json`, target)
  }
}

/** Returns what is wrong with the extracted SBOM. */
export const checkSbom = async (release: Release): Promise<string[]> => {
  const read = async (path: string): Promise<unknown> => JSON.parse(await readFile(path, 'utf8'))
  const sbom = await read(join(release.folder, nameArtifact(release, '.spdx.json')))
  return findSbomProblems(sbom, await read(join(root, 'package-lock.json')))
}

/** Runs `check-config` of the image on a folder with one valid file. Returns whether it accepts the file. */
export const checkConfig = async (release: Release): Promise<string[]> => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'watchhouse-release-'))
  await writeFile(join(folder.path, 'digest.yaml'), definitions)
  // The image runs as another user, and docker keeps the permissions of copied folders.
  await chmod(folder.path, 0o755)
  const inside = '/tmp/health.d'
  await using container = await createContainer(release, 'check-config', inside)
  await runDocker('cp', `${folder.path}/.`, `${container.id}:${inside}`)
  const output = await runDocker('start', '--attach', container.id)
  return output === 'digest.yaml: valid' ? [] : [`check-config of the image printed "${output}"`]
}

/** Starts the product in the image without a network. Returns whether its OpenAPI document has the released version. */
export const checkServedVersion = async (release: Release): Promise<string[]> => {
  await using container = await createContainer(release)
  await runDocker('start', container.id)
  const document = await retryUntil(
    () => runDocker('exec', container.id, 'node', '-e', printDocument).catch(() => ''),
    (text) => text !== '',
    startsWithinMs,
  )
  const version = parseServedVersion(JSON.parse(document))
  return version === release.version ? [] : [`OpenAPI document of the image has version "${version}"`]
}

const printDocument =
  'fetch("http://127.0.0.1:3000/api/v1/openapi.json").then((response) => response.text()).then(console.log)'

/** Creates a container that is not started and has no network. Disposing removes it. */
const createContainer = async (
  release: Release,
  ...parameters: string[]
): Promise<{ id: string } & AsyncDisposable> => {
  const options = ['--network', 'none', '--env', `COLUMNDB_HOST=${unreachableHost}`]
  const id = await runDocker('create', ...options, nameImage(release), ...parameters)
  return { id, [Symbol.asyncDispose]: async () => void (await runDocker('rm', '--force', id)) }
}
