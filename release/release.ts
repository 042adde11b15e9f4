import type { ChangelogSection } from './changelog.ts'
import type { Commit } from './repository.ts'

/** The version that is released, and where its files and its images are. */
export interface Release {
  version: string
  commit: Commit
  changes: ChangelogSection
  /** The registry of image and chart. Without `--push`, that of the examples in the documentation. */
  registry: string
  /** The folder for the files of the release. */
  folder: string
}

export const exampleRegistry = 'registry.example.com'
export const sourceUrl = 'https://github.com/watchhouse/watchhouse'

export const nameImageRepository = ({ registry }: Release): string => `${registry}/watchhouse`
export const nameImage = (release: Release): string => `${nameImageRepository(release)}:${release.version}`

/** Returns the repository of charts. Image and chart have the same name and tag, so they need different repositories. */
export const nameChartFolder = ({ registry }: Release): string => `${registry}/charts`

export const nameArtifact = ({ version }: Release, suffix: string): string => `watchhouse-${version}${suffix}`
