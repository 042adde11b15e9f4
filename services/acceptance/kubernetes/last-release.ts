import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { root } from '../../testing/source-file.ts'
import { runCommand } from './command.ts'

const installWithinMs = 600_000

/** Checks out the last release into a folder, and builds its web UI and product there. */
export const buildLastRelease = async (folder: string, report: (line: string) => void): Promise<void> => {
  const { name, revision } = await findLastRelease()
  report(`last release: ${name} (${revision.slice(0, 12)})`)
  await runCommand(['git', 'clone', '--quiet', '--no-checkout', root, folder])
  const run = (...words: string[]) => runCommand(words, { directory: folder, timeoutMs: installWithinMs })
  await run('git', 'checkout', '--quiet', '--detach', revision)
  // Any command of the product installs its packages and builds it first.
  await run('npm', 'start', '--', 'check-config', '--connect')
}

/** Returns the last tag of a release. Before the first one, the commit that added the last version to the changelog. */
const findLastRelease = async (): Promise<{ name: string; revision: string }> => {
  const git = async (...words: string[]) => (await runCommand(['git', ...words], { directory: root })).trim()
  const tag = await git('describe', '--tags', '--abbrev=0', '--match', 'v*').catch(() => undefined)
  if (tag !== undefined) return { name: tag, revision: await git('rev-parse', `${tag}^{commit}`) }
  const changelog = await readFile(join(root, 'CHANGELOG.md'), 'utf8')
  const heading = /^## \[\d+\.\d+\.\d+\]/m.exec(changelog)?.[0]
  if (heading === undefined) throw new Error('CHANGELOG.md has no version to upgrade from')
  const revision = await git('log', '--max-count=1', '--format=%H', `-S${heading}`, '--', 'CHANGELOG.md')
  if (revision === '') throw new Error(`no commit adds "${heading}" to CHANGELOG.md; fetch the whole history`)
  return { name: heading.slice('## '.length), revision }
}
