import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rmdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'

const root = '/sys/fs/cgroup'
const removedWithinMs = 20_000
const pollMs = 200
/** The share of the CPU of all pods of a node, compared with 1024 of a process outside. */
const cpuShares = '10240'
const cpuWeight = '1000'

/** Creates a control group for the pods of a node, in each hierarchy. Disposing removes it with those inside. */
export const createControlGroup = async (name: string): Promise<AsyncDisposable> => {
  const isUnified = existsSync(join(root, 'cgroup.controllers'))
  const folders = isUnified ? [join(root, name)] : await createInHierarchies(name)
  if (isUnified) await createUnified(join(root, name))
  return { [Symbol.asyncDispose]: async () => void (await Promise.all(folders.map(removeControlGroup))) }
}

/** Creates the group in the hierarchy of each controller (cgroup v1). */
const createInHierarchies = async (name: string): Promise<string[]> => {
  const hierarchies = (await readdir(root)).filter(
    (each) => each !== 'unified' && existsSync(join(root, each, 'tasks')),
  )
  const folders = [...new Set(hierarchies)].map((each) => join(root, each, name))
  for (const folder of folders) await mkdir(folder, { recursive: true })
  for (const file of ['cpuset.cpus', 'cpuset.mems'])
    await writeFile(join(root, 'cpuset', name, file), await readFile(join(root, 'cpuset', file)))
  await writeFile(join(root, 'cpu', name, 'cpu.shares'), cpuShares)
  return folders
}

/** Creates the group in the only hierarchy (cgroup v2). Its controllers stay enabled for other groups. */
const createUnified = async (folder: string): Promise<void> => {
  const controllers = (await readFile(join(root, 'cgroup.controllers'), 'utf8')).trim().split(' ')
  await writeFile(join(root, 'cgroup.subtree_control'), controllers.map((each) => `+${each}`).join(' '))
  await mkdir(folder)
  await writeFile(join(folder, 'cpu.weight'), cpuWeight)
}

/** Removes a group with those inside. Ended processes leave their group with a delay. */
const removeControlGroup = async (folder: string): Promise<void> => {
  const until = performance.now() + removedWithinMs
  for (;;) {
    try {
      return await removeFolders(folder)
    } catch (error) {
      if (performance.now() > until) throw error
      await wait(pollMs)
    }
  }
}

/** Removes folders from the innermost out. The files in them are part of the kernel and vanish with them. */
const removeFolders = async (folder: string): Promise<void> => {
  if (!existsSync(folder)) return
  for (const entry of await readdir(folder, { withFileTypes: true }))
    if (entry.isDirectory()) await removeFolders(join(folder, entry.name))
  await rmdir(folder)
}
