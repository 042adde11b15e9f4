import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { loadAll } from 'js-yaml'
import { z } from 'zod'
import { findProgram } from '../servers/source.ts'
import { root } from '../source-file.ts'

/** The values files of the chart. */
export const profiles = ['values.yaml', 'values-single.yaml', 'values-ha.yaml'] as const

/** Hosts for the tests, because the chart requires hosts. */
export const someHosts = 'helm/tests/values-hosts.yaml'

const largestBytes = 16 * 1024 * 1024

export interface ProgramResult {
  code: number
  output: string
}

/** Runs a program of `.ci/chart-tools` from the repository's root. */
export const runTool = async (name: string, parameters: readonly string[], input?: string): Promise<ProgramResult> => {
  const program = findProgram(name)
  if (program === undefined) throw new Error(`${name} is not installed; .ci/chart-tools does that`)
  const running = promisify(execFile)(program, parameters, { cwd: root, maxBuffer: largestBytes })
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

/** A Kubernetes object. */
export const RenderedChart = z.looseObject({ kind: z.string(), metadata: z.looseObject({ name: z.string() }) })
export type RenderedChart = z.infer<typeof RenderedChart>

/** Renders the chart as text with values files and single values. */
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

/** Renders the objects of the chart. */
export const render = async (
  values: readonly string[],
  set?: Readonly<Record<string, string>>,
): Promise<RenderedChart[]> =>
  loadAll(await renderText(values, set))
    .filter((one) => one != null)
    .map((one) => RenderedChart.parse(one))

export const profile = (name: (typeof profiles)[number]): string => join('helm', name)

/** Returns values that enable every optional object of a profile. */
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
