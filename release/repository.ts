import { runProgram } from './program.ts'

/** The checked-out commit. */
export interface Commit {
  revision: string
  /** The commit time as an RFC 3339 instant in UTC. It makes two builds of a commit equal. */
  time: string
}

const shownFiles = 5

const git = async (...parameters: string[]): Promise<string> => (await runProgram('git', parameters)).trimEnd()

export const readCommit = async (): Promise<Commit> => {
  const [revision = '', seconds = ''] = (await git('show', '--no-patch', '--format=%H %ct', 'HEAD')).split(' ')
  return { revision, time: new Date(Number(seconds) * 1000).toISOString().replace('.000Z', 'Z') }
}

export const nameTag = (version: string): string => `v${version}`

/** Returns what prevents a release of the checked-out commit: changed files, or the state of the tag. */
export const findRepositoryProblems = async (version: string, isTagged: boolean): Promise<string[]> => {
  const changed = (await git('status', '--porcelain', '--untracked-files=all')).split('\n').filter(Boolean)
  const shown = changed.slice(0, shownFiles).map((line) => `"${line.slice(3)}"`)
  const more = changed.length > shownFiles ? ` and ${changed.length - shownFiles} more` : ''
  const dirty = `working tree has uncommitted changes: ${shown.join(', ')}${more}; commit or stash them`
  return [...(changed.length > 0 ? [dirty] : []), ...(await findTagProblems(version, isTagged))]
}

const findTagProblems = async (version: string, isTagged: boolean): Promise<string[]> => {
  const tag = nameTag(version)
  const target = await git('rev-parse', '--verify', '--quiet', `refs/tags/${tag}^{commit}`).catch(() => undefined)
  if (!isTagged) return target === undefined ? [] : [`tag "${tag}" already exists; release a new version`]
  const { revision } = await readCommit()
  return target === revision ? [] : [`tag "${tag}" does not point to the checked-out commit; check out the tag`]
}

/** Creates the annotated tag of a version at the checked-out commit. */
export const createTag = async (version: string): Promise<void> => {
  await git('tag', '--annotate', nameTag(version), '--message', `Watchhouse ${version}`)
}
