import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { z } from 'zod'
import { findProgram } from '../servers/source.ts'
import { root } from '../source-file.ts'

/** The profiles that the chart brings. */
export const profiles = ['values.yaml', 'values-single.yaml', 'values-ha.yaml'] as const

/** Hosts for the tests of the chart: without any it refuses. */
export const someHosts = 'helm/tests/values-hosts.yaml'

const largestBytes = 16 * 1024 * 1024

export interface Ran {
  code: number
  output: string
}

/** Runs a program of `.ci/chart-tools` from the repository's root. */
export const runTool = async (name: string, given: readonly string[], input?: string): Promise<Ran> => {
  const program = findProgram(name)
  if (program === undefined) throw new Error(`${name} is not installed; .ci/chart-tools does that`)
  const running = promisify(execFile)(program, given, { cwd: root, maxBuffer: largestBytes })
  running.child.stdin?.end(input)
  try {
    const { stdout, stderr } = await running
    return { code: 0, output: stdout === '' ? stderr : stdout }
  } catch (error) {
    const { code, stdout, stderr } = Failed.parse(error)
    return { code, output: `${stdout}${stderr}` }
  }
}

const Failed = z.object({ code: z.number(), stdout: z.string(), stderr: z.string() })

/** One object of Kubernetes. */
export const Rendered = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
export type Rendered = z.infer<typeof Rendered>

/** The chart as text, with these values files and single values. */
export const renderText = async (
  values: readonly string[],
  set: Readonly<Record<string, string>> = {},
): Promise<string> => {
  const files = values.flatMap((file) => ['--values', file])
  const single = Object.entries(set).flatMap(([name, value]) => ['--set', `${name}=${value}`])
  const { code, output } = await runTool('helm', [
    'template',
    'watchhouse',
    'helm',
    '-n',
    'watchhouse',
    ...files,
    ...single,
  ])
  if (code !== 0) throw new Error(output)
  return output
}

/** The objects that the chart gives. */
export const render = async (values: readonly string[], set?: Readonly<Record<string, string>>): Promise<Rendered[]> =>
  loadAll(await renderText(values, set))
    .filter((one) => one != null)
    .map((one) => Rendered.parse(one))

export const profile = (name: (typeof profiles)[number]): string => join('helm', name)

/** Single values that make a profile render all that it can. */
export const everythingFor = (name: string): Record<string, string> =>
  name === 'values-single.yaml'
    ? everything
    : { ...everything, 'services.ingest.autoscaling.type': 'keda', 'services.mcp.autoscaling.type': 'hpa' }

const everything = {
  'ingress.enabled': 'true',
  'ingress.hosts[0]': 'watch.example.com',
  'gatewayApi.enabled': 'true',
  'gatewayApi.parentRefs[0].name': 'public',
  'monitoring.podMonitor.enabled': 'true',
  'monitoring.rules.enabled': 'true',
  'monitoring.dashboards.enabled': 'true',
}
