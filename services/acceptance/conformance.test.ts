// @module-tag long
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { conformanceFixtures } from '../testing/mcp-conformance/fixtures.ts'
import { startOpenProduct } from '../testing/mcp-conformance/start.ts'
import type { AdditionalTools } from '../mcp/protocol/server.ts'

const startLimitMs = 120_000
const suite = fileURLToPath(import.meta.resolve('@modelcontextprotocol/conformance/dist/index.js'))
const baseline = (name: string) => fileURLToPath(new URL(`../testing/mcp-conformance/${name}.yaml`, import.meta.url))

/** Runs the conformance suite against a URL. The exit code is 1 if the failures differ from the expected ones. */
const runSuite = async (url: string, revision: string, expected?: string) =>
  new Promise<{ code: number; output: string }>((resolve) => {
    const failures = expected === undefined ? [] : ['--expected-failures', baseline(expected)]
    const rest = [suite, 'server', '--url', `${url}/api/mcp`, '--requirements', revision, ...failures]
    const child = execFile(process.execPath, rest, { maxBuffer: 64 * 1024 * 1024 }, (_error, stdout, stderr) =>
      resolve({ code: child.exitCode ?? -1, output: stdout + stderr }),
    )
  })

interface Case {
  what: string
  further?: AdditionalTools
  /** Baseline file with the expected failures, by protocol revision. */
  failing: Readonly<Record<string, string | undefined>>
}

const cases: readonly Case[] = [
  {
    what: 'with the tools that the suite calls, but for what needs a session',
    further: conformanceFixtures,
    failing: { '2026-07-28': undefined, '2025-11-25': 'expected-failures.sessions.2025-11-25' },
  },
  {
    what: 'with its own tools alone, but for what calls the others',
    failing: {
      '2026-07-28': 'expected-failures.with-fixtures.2026-07-28',
      '2025-11-25': 'expected-failures.with-fixtures.2025-11-25',
    },
  },
]

describe.each(cases)('the tool server conforms $what', ({ further, failing }) => {
  let product: Awaited<ReturnType<typeof startOpenProduct>>
  beforeAll(async () => {
    product = await startOpenProduct(further)
  }, startLimitMs)
  afterAll(() => product?.[Symbol.asyncDispose]())

  it.each(Object.entries(failing))('to revision %s', async (revision, expected) => {
    const { code, output } = await runSuite(product.url, revision, expected)
    expect(code, output.slice(-5_000)).toBe(0)
    expect(output).toMatch(/[1-9]\d* passed/)
  })
})
