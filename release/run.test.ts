// @module-tag long
import { execFile, execFileSync } from 'node:child_process'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { load } from 'js-yaml'
import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { z } from 'zod'
import { describeWith } from '../services/testing/describe-with.ts'
import { copyTree, type TreeCopy } from '../services/testing/tree-copy.ts'
import { runProgram } from './program.ts'

vi.setConfig({ testTimeout: 180_000, hookTimeout: 120_000 })

const Failure = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() })
const Annotations = z.object({ annotations: z.record(z.string(), z.string()) })

const formatChangelog = (version: string): string =>
  `# Changelog\n\n## [Unreleased]\n\n## [${version}] - 2026-11-28\n\n### Added\n\n- A chart.\n`

describeWith(['helm'], 'a release', () => {
  let copy: TreeCopy
  let version: string
  beforeAll(async () => {
    copy = await copyTree(['node_modules'])
    version = JSON.parse(await readFile(join(copy.path, 'package.json'), 'utf8')).version
    // Between two releases, the changelog has unreleased entries and the contracts have grown.
    await writeFile(join(copy.path, 'CHANGELOG.md'), formatChangelog(version))
    execFileSync(process.execPath, ['services/generate.ts', '--release'], { cwd: copy.path })
    git('init', '--quiet')
    commit('one')
    git('tag', 'checked')
  })
  afterAll(() => copy[Symbol.asyncDispose]())

  const identity = ['-c', 'user.name=Test', '-c', 'user.email=test@example.com', '-c', 'commit.gpgSign=false']
  const git = (...parameters: string[]) => execFileSync('git', [...identity, ...parameters], { cwd: copy.path })
  const commit = (message: string) => {
    git('add', '--all')
    git('commit', '--quiet', '--message', message)
  }
  const edit = async (path: string, change: (text: string) => string) => {
    const text = await readFile(join(copy.path, path), 'utf8')
    const changed = change(text)
    expect(changed, path).not.toBe(text)
    await writeFile(join(copy.path, path), changed)
  }

  /** Runs the release script of the copy. */
  const release = async (...options: string[]) => {
    const running = promisify(execFile)(process.execPath, ['release/run.ts', ...options], { cwd: copy.path })
    return running.then(
      ({ stdout, stderr }) => ({ code: 0, stdout, stderr }),
      (error: unknown) => Failure.parse(error),
    )
  }

  it.each<[string, () => Promise<unknown>, string, string[]]>([
    [
      'has an uncommitted file',
      () => writeFile(join(copy.path, 'notes.txt'), ''),
      'working tree has uncommitted changes: "notes.txt"; commit or stash them',
      [],
    ],
    ['is tagged', async () => git('tag', `v${version}`), 'tag "v%" already exists; release a new version', []],
    [
      'lacks the tag of a tagged release',
      async () => {},
      'tag "v%" does not point to the checked-out commit; check out the tag',
      ['--tagged'],
    ],
    [
      'is not the tagged one',
      async () => {
        git('tag', `v${version}`)
        await edit('README.md', (text) => `${text}\n`)
        commit('two')
      },
      'tag "v%" does not point to the checked-out commit; check out the tag',
      ['--tagged'],
    ],
    [
      'has another version of the application in the chart',
      async () => {
        await edit('helm/Chart.yaml', (text) => text.replace(/^appVersion: .*$/m, 'appVersion: 9.9.9'))
        commit('two')
      },
      'version "9.9.9" in helm/Chart.yaml (appVersion) differs from "%" in package.json; set the same version',
      [],
    ],
    [
      'has another default version in the image',
      async () => {
        await edit('services/Dockerfile', (text) => text.replace(/^ARG VERSION=\S+/m, 'ARG VERSION=9.9.9'))
        commit('two')
      },
      'version "9.9.9" in services/Dockerfile differs from "%" in package.json; set the same version',
      [],
    ],
    [
      'has another version in its OpenAPI document',
      async () => {
        await edit('services/gateway/openapi/document.ts', (text) =>
          text.replace('{ ...document.info, version }', "{ ...document.info, version: '9.9.9' }"),
        )
        commit('two')
      },
      'version "9.9.9" in the OpenAPI document differs from "%" in package.json; set the same version',
      [],
    ],
    [
      'has no section in the changelog',
      async () => {
        await edit('CHANGELOG.md', (text) => text.replace(`## [${version}]`, '## [0.0.1]'))
        commit('two')
      },
      'CHANGELOG.md has no section "## [%] - YYYY-MM-DD"; add it',
      [],
    ],
    [
      'has unrecorded contracts',
      async () => {
        await edit('services/generate/contracts.jsonl', (text) => text.split('\n').toSpliced(1, 1).join('\n'))
        commit('two')
      },
      'services/generate/contracts.jsonl differs from the contracts of proto/; run `npm run generate -- --release`',
      [],
    ],
  ])('is refused if the commit %s', async (_what, change, problem, options) => {
    git('reset', '--quiet', '--hard', 'checked')
    git('clean', '--quiet', '--force')
    git('tag', '--list', 'v*')
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((tag) => git('tag', '--delete', tag))
    await change()
    const { code, stdout, stderr } = await release('--skip-image', ...options)
    expect({ code, stderr }).toEqual({ code: 1, stderr: `${problem.replace('%', version)}\n` })
    expect(stdout).toMatch(/^FAILED {2}source \(\d+ s\)\n$/)
  })

  it('reports all problems of a commit at once', async () => {
    git('reset', '--quiet', '--hard', 'checked')
    await edit('package.json', (text) => text.replace(`"version": "${version}"`, '"version": "9.9.9"'))
    const { code, stderr } = await release('--skip-image')
    expect(code).toBe(1)
    expect(stderr.split('\n')).toEqual([
      'working tree has uncommitted changes: "package.json"; commit or stash them',
      ...[
        'web/package.json',
        'package-lock.json',
        'package-lock.json (root package)',
        'package-lock.json (web)',
        'helm/Chart.yaml (version)',
        'helm/Chart.yaml (appVersion)',
        'services/Dockerfile',
        'services/generate/contracts.jsonl',
      ].map((where) => `version "${version}" in ${where} differs from "9.9.9" in package.json; set the same version`),
      'CHANGELOG.md has no section "## [9.9.9] - YYYY-MM-DD"; add it',
      'services/generate/contracts.jsonl differs from the contracts of proto/; run `npm run generate -- --release`',
      '',
    ])
  })

  it('without options builds a chart with the released image, and neither pushes nor tags', async () => {
    git('reset', '--quiet', '--hard', 'checked')
    const { code, stdout, stderr } = await release('--skip-image')
    expect({ code, stderr }, stdout).toEqual({ code: 0, stderr: '' })
    expect(stdout).toContain('Not pushed; --push <registry> pushes image and chart.\n')
    expect(stdout).toContain(`Not tagged; --tag creates v${version}.\n`)
    expect(git('tag', '--list', 'v*').toString()).toBe('')
    const folder = join(copy.path, '.watchhouse/release', version)
    const files = ['SHA256SUMS', 'install.yaml', `watchhouse-${version}.tgz`]
    expect((await readdir(folder)).toSorted()).toEqual(files)
    const image = `registry.example.com/watchhouse:${version}`
    expect(await readFile(join(folder, 'install.yaml'), 'utf8')).toContain(`image: ${image}\n`)
    const show = (what: string) => runProgram('helm', ['show', what, join(folder, `watchhouse-${version}.tgz`)])
    const { annotations } = Annotations.parse(load(await show('chart')))
    expect(load(annotations['artifacthub.io/images'] ?? '')).toContainEqual({ name: 'watchhouse', image })
    expect(load(annotations['artifacthub.io/changes'] ?? '')).toEqual([{ kind: 'added', description: 'A chart.' }])
    expect(annotations).toMatchObject({
      'artifacthub.io/license': 'Apache-2.0',
      'artifacthub.io/prerelease': 'false',
      'org.opencontainers.image.revision': git('rev-parse', 'HEAD').toString().trim(),
    })
    expect(await show('readme')).toContain('| `image.repository` | `"registry.example.com/watchhouse"` |')
  })
})
