import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { renderManifest } from '../services/generate/chart/manifest.ts'
import { checkChart, packageChart, resolveChartPath, verifyChart } from './chart.ts'
import { findChecksumProblems, writeChecksums } from './checksums.ts'
import { buildImage, checkConfig, checkLabels, checkSbom, checkServedVersion, extractSboms } from './image.ts'
import { InvalidOptions, parseOptions, type ReleaseOptions, usage } from './options.ts'
import { FailedChecks, requireNone, runProgram, runStep } from './program.ts'
import { comparePulledChart, hasCosign, pushChart, pushImage, signArtifacts, writeDigests } from './publish.ts'
import { nameChartFolder, nameImage, type Release } from './release.ts'
import { createTag, nameTag } from './repository.ts'
import { findSourceProblems, readRelease } from './source.ts'

const usageExitCode = 2
const failureExitCode = 1

const print = (line: string): void => void process.stdout.write(`${line}\n`)

/** Builds and checks a release; pushes and tags it on request. */
const main = async (parameters: readonly string[]): Promise<void> => {
  try {
    if (parameters.includes('--help')) return print(usage)
    await makeRelease(parseOptions(parameters))
  } catch (error) {
    process.exitCode = error instanceof InvalidOptions ? usageExitCode : failureExitCode
    // Expected failures need no stack trace.
    const isExpected = error instanceof InvalidOptions || error instanceof FailedChecks
    process.stderr.write(`${isExpected ? error.message : error instanceof Error ? error.stack : String(error)}\n`)
    if (error instanceof InvalidOptions) process.stderr.write(`\n${usage}`)
  }
}

const makeRelease = async (options: ReleaseOptions): Promise<void> => {
  await runStep('source', async () => requireNone(await findSourceProblems(options)))
  await runStep('generated files', () => runProgram(process.execPath, ['services/generate.ts', '--check']))
  const release = await readRelease(options)
  print(`\nWatchhouse ${release.version} of commit ${release.commit.revision}\n`)
  await rm(release.folder, { recursive: true, force: true })
  await mkdir(release.folder, { recursive: true })
  await build(release, options)
  await check(release, options)
  if (options.push !== undefined) await push(release, options)
  if (options.tag) await runStep(`tag ${nameTag(release.version)}`, () => createTag(release.version))
  summarize(release, options)
}

const build = async (release: Release, { base, skipImage, signature }: ReleaseOptions): Promise<void> => {
  if (!skipImage) {
    await runStep(`build image ${nameImage(release)}`, () => buildImage(release, base))
    await runStep('extract SBOMs', () => extractSboms(release))
  }
  await runStep(signature ? 'package and sign chart' : 'package chart', () => packageChart(release, signature))
  await runStep('render manifest', async () => {
    const manifest = await renderManifest(resolveChartPath(release))
    if (manifest === undefined) throw new FailedChecks('manifest was not rendered; run .ci/chart-tools')
    await writeFile(join(release.folder, 'install.yaml'), manifest.content)
  })
  await writeFile(`${release.folder}.md`, `${release.changes.body}\n`)
  await runStep('write checksums', () => writeChecksums(release.folder))
}

const check = async (release: Release, { skipImage, signature }: ReleaseOptions): Promise<void> => {
  const run = (title: string, find: (release: Release) => Promise<string[]>) =>
    runStep(title, async () => requireNone(await find(release)))
  if (!skipImage) {
    await run('labels of the image', checkLabels)
    await run('SBOM of the image', checkSbom)
    await run('check-config in the image', checkConfig)
    await run('OpenAPI document of the image', checkServedVersion)
  }
  await run('chart: lint and template of every profile', checkChart)
  if (signature) await runStep('signature of the chart', () => verifyChart(release, signature.keyring))
  await run('checksums', () => findChecksumProblems(release.folder))
}

const push = async (release: Release, { cosignKey }: ReleaseOptions): Promise<void> => {
  const image = await runStep(`push image ${nameImage(release)}`, () => pushImage(release))
  const chart = await runStep(`push chart oci://${nameChartFolder(release)}/watchhouse`, () => pushChart(release))
  await runStep('pull the pushed chart', async () => requireNone(await comparePulledChart(release)))
  await writeDigests(release, image, chart)
  if (hasCosign()) await runStep('sign with cosign', () => signArtifacts([image, chart], cosignKey))
  else print('skipped signatures: cosign is not installed')
}

const summarize = ({ version, folder }: Release, { push: registry, tag, tagged }: ReleaseOptions): void => {
  print(`\nFiles: ${folder}`)
  print(registry === undefined ? 'Not pushed; --push <registry> pushes image and chart.' : `Pushed to ${registry}.`)
  if (tag) print(`Tagged; publish the tag with \`git push origin ${nameTag(version)}\`.`)
  else if (!tagged) print(`Not tagged; --tag creates ${nameTag(version)}.`)
}

await main(process.argv.slice(2))
