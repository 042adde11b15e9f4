import { execFile } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { ClusterServer } from './cluster.ts'

/** Adds a local disk with its own file system of this size. */
export const addDisk = async (server: ClusterServer, name: string, mebibytes: number): Promise<void> => {
  const path = join(server.directory, name)
  await mountFileSystem(path, mebibytes)
  await server.configure(
    `config.d/${name}.xml`,
    `<clickhouse><storage_configuration><disks>
       <${name}><type>local</type><path>${path}/</path></${name}>
     </disks></storage_configuration></clickhouse>`,
  )
}

/** Removes the file system of a disk. The server lists the disk until its next start, with the space of `default`. */
export const removeDisk = async (server: ClusterServer, name: string): Promise<void> => {
  await server.configure(`config.d/${name}.xml`, undefined)
  await unmountFileSystem(join(server.directory, name))
}

/** Mounts a file system of this size in memory. */
export const mountFileSystem = async (path: string, mebibytes: number): Promise<void> => {
  await mkdir(path, { recursive: true })
  await promisify(execFile)('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', path])
}

export const unmountFileSystem = async (path: string): Promise<void> => {
  await promisify(execFile)('umount', [path])
}
