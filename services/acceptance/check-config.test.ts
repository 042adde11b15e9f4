import { spawnSync } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watchhouse-check-config-'))
})
afterAll(() => rm(folder, { recursive: true }))

const check = (...folders: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, ['services/main.ts', 'check-config', ...folders], {
    cwd: root,
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

it('prints every problem of a folder of alert definitions and exits 1', async () => {
  await writeFile(join(folder, 'digest.yaml'), 'enabled: true\nwindowMinutes: 9999\n')
  await writeFile(
    join(folder, 'routing.yaml'),
    'routes: [{ id: a, target: "" }, { id: b, target: webhook, to: hunter2 }]\n',
  )
  const { status, stdout, stderr } = check(folder)
  expect([status, stdout]).toEqual([1, ''])
  expect(stderr.split('\n')).toEqual([
    'digest.yaml: windowMinutes must be at most 1440',
    'routing.yaml: routes[0]: target must not be empty',
    'routing.yaml: routes[1]: to is not known here',
    '',
  ])
})

it('exits 0 when there is nothing wrong', async () => {
  await rm(join(folder, 'routing.yaml'))
  await writeFile(join(folder, 'digest.yaml'), 'enabled: true\nwindowMinutes: 15\n')
  expect(check(folder)).toEqual({ status: 0, stdout: 'digest.yaml: nothing wrong\n', stderr: '' })
})

it('exits 2 when it is not told which folder', () => {
  expect(check()).toMatchObject({ status: 2, stderr: expect.stringContaining('takes one folder') })
})
