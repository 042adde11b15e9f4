import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { formatReleaseLines, releasedContractsPath } from '../services/generate/contracts.ts'
import { root } from '../services/testing/source-file.ts'
import { findChangelogProblems, parseChangelog } from './changelog.ts'
import type { ReleaseOptions } from './options.ts'
import { exampleRegistry, type Release } from './release.ts'
import { findRepositoryProblems, readCommit } from './repository.ts'
import { findVersionProblems, readServedVersion, readVersions } from './versions.ts'

/** Returns every reason why the checked-out commit cannot be released. */
export const findSourceProblems = async ({ tagged = false }: ReleaseOptions): Promise<string[]> => {
  const versions = await readVersions(root)
  const version = versions[0]?.version ?? ''
  return [
    ...(await findRepositoryProblems(version, tagged)),
    ...findVersionProblems([...versions, await readServedVersion()]),
    ...findChangelogProblems(await readChangelog(), version),
    ...(await findContractProblems()),
  ]
}

/** The next release compares its contracts with those of this one, so they are recorded with the release. */
const findContractProblems = async (): Promise<string[]> => {
  const recorded = await readFile(join(root, releasedContractsPath), 'utf8')
  if (recorded === (await formatReleaseLines())) return []
  return [`${releasedContractsPath} differs from the contracts of proto/; run \`npm run generate -- --release\``]
}

const readChangelog = (): Promise<string> => readFile(join(root, 'CHANGELOG.md'), 'utf8')

/** Returns the release of the checked-out commit, whose source was checked. */
export const readRelease = async ({ push: registry = exampleRegistry }: ReleaseOptions): Promise<Release> => {
  const version = (await readVersions(root))[0]?.version ?? ''
  const changes = parseChangelog(await readChangelog()).find((section) => section.version === version)
  if (changes === undefined) throw new Error(`CHANGELOG.md has no section "${version}"`)
  const folder = join(root, '.watchhouse/release', version)
  return { version, commit: await readCommit(), changes, registry, folder }
}
