import { existsSync } from 'node:fs'
import { cp, mkdir, mkdtemp, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { listRepositoryFiles, root } from './source-file.ts'

/** A copy of the working tree, including uncommitted changes. */
export interface TreeCopy extends AsyncDisposable {
  path: string
}

const linkedPaths = ['node_modules', 'web/node_modules', 'web/build', 'web/.svelte-kit']

/**
 * Copies the working tree to a temporary directory; the folders in `shared` become symlinks. Disposing removes the
 * directory.
 */
export const copyTree = async (shared: readonly string[] = linkedPaths): Promise<TreeCopy> => {
  const path = await mkdtemp(join(tmpdir(), 'watchhouse-mutations-'))
  const hidden = ['.knip.json', '.oxlintrc.json', '.oxfmtrc.json'].filter((name) => existsSync(join(root, name)))
  for (const file of new Set([...listRepositoryFiles(), ...hidden])) {
    await mkdir(dirname(join(path, file)), { recursive: true })
    await cp(join(root, file), join(path, file))
  }
  for (const folder of shared) {
    if (existsSync(join(root, folder))) await symlink(join(root, folder), join(path, folder))
  }
  return { path, [Symbol.asyncDispose]: () => rm(path, { recursive: true }) }
}
