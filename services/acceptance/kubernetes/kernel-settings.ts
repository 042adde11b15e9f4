import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Settings of the whole machine that a kubelet changes. */
const changed = [
  'vm/overcommit_memory',
  'vm/panic_on_oom',
  'kernel/panic',
  'kernel/panic_on_oops',
  'kernel/keys/root_maxkeys',
  'kernel/keys/root_maxbytes',
]

/** Reads the kernel settings that a cluster changes. Disposing the result restores them. */
export const saveKernelSettings = async (): Promise<AsyncDisposable> => {
  const read = async (name: string) =>
    [join('/proc/sys', name), await readFile(join('/proc/sys', name), 'utf8')] as const
  const saved = await Promise.all(changed.map(read))
  return {
    async [Symbol.asyncDispose]() {
      for (const [path, value] of saved) if ((await readFile(path, 'utf8')) !== value) await writeFile(path, value)
    },
  }
}
