import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { backUpState, restoreState } from './file-backup.ts'

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'watchhouse-file-backup-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** Runs statements on the store of a directory in another process, as the product does; a library may keep files open. */
const startStore = (directory: string, program: string) => {
  const url = pathToFileURL(join(directory, 'state.db')).href
  const text = `import { z } from 'zod'
    import { openStore } from ${JSON.stringify(join(import.meta.dirname, '../open.ts'))}
    await using store = await openStore({ env: { SVC_STATE_DB_URL: '${url}' }, busIsShared: false })
    ${program}`
  return spawn(process.execPath, ['--input-type=module-typescript', '--eval', text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
}
const run = async (directory: string, program: string) => {
  const chunks = await startStore(directory, program).stdout.toArray()
  return Buffer.concat(chunks).toString()
}
const write = (directory: string, value: string) =>
  run(directory, `await store.update('name', z.string(), () => ({ value: '${value}' }))`)
const read = (directory: string) => run(directory, `process.stdout.write(await store.get('name', z.string()))`)

/** Runs a command of the product. */
const runCommand = (command: string, file: string) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['services/main.ts', command, file], {
    cwd: join(import.meta.dirname, '../../../..'),
    encoding: 'utf8',
    env: { SVC_DATA_DIRECTORY: folder },
  })
  return { status, output: stdout + stderr }
}

describe('a backup of the state file', () => {
  it('is consistent while the product runs, and restores the state once it is stopped', async () => {
    const backup = join(folder, 'backup.db')
    await write(folder, 'first')
    const running = startStore(folder, `process.stdout.write('open'); await process.stdin.toArray()`)
    await once(running.stdout, 'data')
    expect(runCommand('backup', backup)).toEqual({
      status: 0,
      output: expect.stringContaining(`written to "${backup}"`),
    })
    expect(statSync(backup).mode & 0o777).toBe(0o600)
    expect(runCommand('restore', backup)).toEqual({
      status: 1,
      output: `restore failed: "${join(folder, 'state.db')}" is in use; stop the product, then restore\n`,
    })
    running.stdin.end()
    await once(running, 'exit')
    await write(folder, 'second')
    expect(await read(folder)).toBe('second')
    expect(runCommand('restore', backup)).toEqual({
      status: 0,
      output: expect.stringContaining('the former state is in'),
    })
    expect(await read(folder)).toBe('first')
    expect(readdirSync(folder).filter((name) => name.includes('before-restore'))).toHaveLength(1)
  })

  it('never replaces a file, and names what is missing', async () => {
    const env = { SVC_DATA_DIRECTORY: join(folder, 'empty') }
    const file = join(folder, 'some-file')
    writeFileSync(file, 'text that is no database, and longer than the header of one')
    await expect(backUpState({ SVC_DATA_DIRECTORY: folder }, file)).rejects.toMatchObject({ code: 'conflict' })
    await expect(backUpState(env, join(folder, 'other'))).rejects.toMatchObject({ code: 'not-found' })
    await expect(restoreState(env, file)).rejects.toMatchObject({ code: 'invalid' })
    await expect(restoreState(env, join(folder, 'absent'))).rejects.toMatchObject({ code: 'not-found' })
    expect(existsSync(join(folder, 'empty'))).toBe(false)
  })

  it('refers to the tools of a server', async () => {
    const env = { SVC_STATE_DB_URL: 'postgres://db/watchhouse' }
    await expect(backUpState(env, join(folder, 'other'))).rejects.toThrow('pg_dump')
    await expect(backUpState({}, join(folder, 'other'))).rejects.toThrow('SVC_DATA_DIRECTORY')
  })
})
