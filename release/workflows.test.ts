import { globSync } from 'node:fs'
import { load } from 'js-yaml'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import packageFile from '../package.json' with { type: 'json' }
import { readSource, root } from '../services/testing/source-file.ts'

const Permissions = z.record(z.string(), z.enum(['read', 'write']))
const Step = z.looseObject({ uses: z.string().optional(), run: z.string().optional() })
const Workflow = z.looseObject({
  permissions: Permissions,
  jobs: z.record(
    z.string(),
    z.looseObject({
      permissions: Permissions.optional(),
      uses: z.string().optional(),
      steps: z.array(Step).default([]),
    }),
  ),
})

const paths = globSync('.github/workflows/*.yml', { cwd: root })
const workflows = paths.map((path) => ({ path, ...Workflow.parse(load(readSource(path).text)) }))
const jobs = workflows.flatMap(({ path, permissions, jobs: all }) =>
  Object.entries(all).map(([name, job]) => ({ permissions, ...job, name: `${path} ${name}` })),
)
const writes = (permissions: Record<string, string>) =>
  Object.entries(permissions).flatMap(([name, access]) => (access === 'write' ? [name] : []))

describe('the hosted workflows', () => {
  it('grant no write access, except to the jobs of a release', () => {
    expect(workflows.flatMap(({ permissions }) => writes(permissions))).toEqual([])
    const granted = jobs.map(({ name, permissions }) => [name, writes(permissions)])
    expect(Object.fromEntries(granted.filter(([, names]) => names?.length !== 0))).toEqual({
      '.github/workflows/release.yml build': ['packages', 'id-token', 'attestations'],
      '.github/workflows/release.yml publish': ['contents'],
    })
  })

  it('run code of packages only in jobs that cannot change the repository', () => {
    const running = jobs.filter(({ steps }) => steps.some(({ run }) => /\bnpm\b|\.ci\//.test(run ?? '')))
    expect(running.length).toBeGreaterThan(1)
    expect(running.flatMap(({ permissions }) => writes(permissions))).not.toContain('contents')
  })

  it('use actions with a pinned version', () => {
    const used = jobs
      .flatMap(({ uses, steps }) => [uses, ...steps.map((step) => step.uses)])
      .filter((one) => one != null)
    expect(used.length).toBeGreaterThan(10)
    expect(used.filter((one) => !/^\.\/|@v\d+$/.test(one))).toEqual([])
  })

  it('run only commands that package.json has', () => {
    const texts = paths.map((path) => readSource(path).text).join('\n')
    const names = [...texts.matchAll(/npm run ([\w:-]+)/g)].map(([, name = '']) => name)
    expect(names).toContain('release')
    expect(names.filter((name) => !Object.hasOwn(packageFile.scripts, name))).toEqual([])
  })
})
