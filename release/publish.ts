import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '../services/testing/servers/server-source.ts'
import { resolveChartPath } from './chart.ts'
import { hashFile } from './checksums.ts'
import { runForOutput, runProgram } from './program.ts'
import { nameArtifact, nameChartFolder, nameImage, nameImageRepository, type Release } from './release.ts'

/** An image or a chart in a registry. */
export interface PushedArtifact {
  /** The repository without a tag. */
  name: string
  digest: string
}

/** Returns the option of helm for a registry on this machine, which has no certificate. */
const plainHttp = ({ registry }: Release): string[] =>
  /^(localhost|127\.0\.0\.1)(:|\/|$)/.test(registry) ? ['--plain-http'] : []

export const pushImage = async (release: Release): Promise<PushedArtifact> => {
  const { stdout } = await runForOutput('docker', ['push', nameImage(release)])
  return { name: nameImageRepository(release), digest: findDigest(stdout) }
}

/** Pushes the chart, and its provenance file if there is one. */
export const pushChart = async (release: Release): Promise<PushedArtifact> => {
  const target = `oci://${nameChartFolder(release)}`
  const { stdout, stderr } = await runForOutput('helm', [
    'push',
    resolveChartPath(release),
    target,
    ...plainHttp(release),
  ])
  return { name: `${nameChartFolder(release)}/watchhouse`, digest: findDigest(stdout + stderr) }
}

/** Pulls the chart from the registry. Returns whether it differs from the package. */
export const comparePulledChart = async (release: Release): Promise<string[]> => {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'watchhouse-pull-'))
  const source = `oci://${nameChartFolder(release)}/watchhouse`
  const options = ['--version', release.version, '--destination', folder.path, ...plainHttp(release)]
  await runProgram('helm', ['pull', source, ...options])
  const pulled = await hashFile(join(folder.path, nameArtifact(release, '.tgz')))
  return pulled === (await hashFile(resolveChartPath(release))) ? [] : ['pulled chart differs from the package']
}

/** Returns the digest that docker or helm prints after a push. */
const findDigest = (output: string): string => {
  const [digest] = /sha256:[0-9a-f]{64}/.exec(output.slice(output.search(/digest/i))) ?? []
  if (digest === undefined) throw new Error(`push printed no digest:\n${output}`)
  return digest
}

export const hasCosign = (): boolean => findProgram('cosign') !== undefined

/** Signs artifacts by digest, with a key or with the identity of the user or workflow. */
export const signArtifacts = async (artifacts: readonly PushedArtifact[], key: string | undefined): Promise<void> => {
  for (const { name, digest } of artifacts) {
    const identity = key === undefined ? [] : ['--key', key]
    await runProgram('cosign', ['sign', '--yes', ...identity, `${name}@${digest}`])
  }
}

/** Writes names and digests of what was pushed beside the folder of the release. Attestations refer to them. */
export const writeDigests = async (release: Release, image: PushedArtifact, chart: PushedArtifact): Promise<void> => {
  await writeFile(`${release.folder}.json`, `${JSON.stringify({ image, chart }, undefined, 2)}\n`)
}
