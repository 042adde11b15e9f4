import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ClientCall, clientCalls } from './calls.ts'
import { runCommand } from './command.ts'

/** Generates a client from `openapi.json` in a folder, compiles it, and sends all calls to the product. */
export type CheckClient = (directory: string, url: string) => Promise<void>

/** The document, reduced to what finds the operation of a call. */
export interface ListedOperation {
  id: string
  method: string
  path: string
  tag: string
  /** Whether it has parameters besides those of the path. */
  hasParameters: boolean
}
export type FindOperation = (id: string) => ListedOperation

const snake = (id: string): string => id.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const pascal = (id: string): string => id.charAt(0).toUpperCase() + id.slice(1)

const compilerOptions = {
  target: 'es2022',
  module: 'nodenext',
  moduleResolution: 'nodenext',
  strict: true,
  skipLibCheck: true,
  lib: ['es2022', 'dom', 'dom.iterable'],
  types: [],
}

const installNpm = async (directory: string, packages: readonly string[]): Promise<void> => {
  await writeFile(join(directory, 'package.json'), '{"private":true,"type":"module"}')
  await runCommand(directory, ['npm', 'install', '--no-audit', '--no-fund', ...packages])
}

/** openapi-typescript, with openapi-fetch, which sends the requests. */
export const checkOpenApiTypeScript =
  (find: FindOperation): CheckClient =>
  async (directory, url) => {
    await installNpm(directory, ['openapi-typescript@7', 'openapi-fetch@0.14', 'typescript@5'])
    await runCommand(directory, ['npx', 'openapi-typescript', 'openapi.json', '-o', 'api.d.ts'])
    const lines = clientCalls.map((call) => {
      const { method, path } = find(call.operationId)
      const { inPath, inQuery } = splitParameters(call, path)
      const body = call.body ? `, body: ${JSON.stringify(call.body)}` : ''
      const given = `{ params: { path: ${JSON.stringify(inPath)}, query: ${JSON.stringify(inQuery)} }${body} }`
      return `check('${call.operationId}', await client.${method.toUpperCase()}('${path}', ${given} as never))`
    })
    await writeFile(
      join(directory, 'calls.ts'),
      `import createClient from 'openapi-fetch'
import type { paths } from './api.d.ts'
const client = createClient<paths>({ baseUrl: '${url}' })
const check = (id: string, { response, data }: { response: Response; data?: unknown }) => {
  if (!response.ok || data === undefined) throw new Error(id + ' returned ' + response.status)
}
${lines.join('\n')}
`,
    )
    const options = { ...compilerOptions, allowImportingTsExtensions: true, noEmit: true }
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify({ compilerOptions: options, files: ['calls.ts'] }))
    await runCommand(directory, ['npx', 'tsc', '-p', '.'])
    await runCommand(directory, [process.execPath, 'calls.ts'])
  }

/** The generator `typescript-fetch` of openapi-generator, which needs Java. */
export const checkTypeScriptFetch =
  (find: FindOperation): CheckClient =>
  async (directory, url) => {
    await installNpm(directory, ['@openapitools/openapi-generator-cli@2', 'typescript@5'])
    const options = '--additional-properties=supportsES6=true,importFileExtension=.js'
    const generate = ['generate', '-i', 'openapi.json', '-g', 'typescript-fetch', '-o', 'client', options]
    await runCommand(directory, ['npx', 'openapi-generator-cli', ...generate])
    const lines = clientCalls.map(({ operationId, parameters, body }) => {
      const api = `${find(operationId).tag.replaceAll(/[^A-Za-z]+(\w)?/g, (_all, letter = '') => letter.toUpperCase())}Api`
      const given = { ...parameters, ...(body && { [bodyNames[operationId] ?? 'body']: body }) }
      return `await new client.${api}(configuration).${operationId}(${JSON.stringify(given)} as never)`
    })
    await writeFile(
      join(directory, 'client/calls.ts'),
      `import * as client from './index.js'
const configuration = new client.Configuration({ basePath: '${url}' })
${lines.join('\n')}
`,
    )
    const tsconfig = { compilerOptions: { ...compilerOptions, outDir: 'out' }, files: ['client/calls.ts'] }
    await writeFile(join(directory, 'tsconfig.json'), JSON.stringify(tsconfig))
    await runCommand(directory, ['npx', 'tsc', '-p', '.'])
    await runCommand(directory, [process.execPath, 'out/calls.js'])
  }

/** The parameter names of bodies, which are named like their schemas. */
const bodyNames: Readonly<Record<string, string>> = {
  getCharts: 'chartBatchRequest',
  runQuery: 'consoleRequest',
}

const maxPythonModels = 800

/** openapi-python-client. */
export const checkPython =
  (find: FindOperation): CheckClient =>
  async (directory, url) => {
    await runCommand(directory, ['python3', '-m', 'venv', 'venv'])
    await runCommand(directory, [
      'venv/bin/pip',
      'install',
      '-q',
      'openapi-python-client==0.29.1',
      'ruff',
      'httpx',
      'attrs',
    ])
    const path = { PATH: `${join(directory, 'venv/bin')}:${process.env.PATH ?? ''}` }
    const generate = [
      'generate',
      '--path',
      'openapi.json',
      '--output-path',
      'generated',
      '--meta',
      'none',
      '--overwrite',
    ]
    await runCommand(directory, ['venv/bin/openapi-python-client', ...generate], path)
    const lines = clientCalls.map(({ operationId, parameters, body }) => {
      const folder = find(operationId)
        .tag.toLowerCase()
        .replaceAll(/[^a-z]+/g, '_')
      return `call("${folder}", "${snake(operationId)}", json.loads('${JSON.stringify(parameters ?? {})}'), ${body ? `json.loads('${JSON.stringify(body)}')` : 'None'})`
    })
    await writeFile(join(directory, 'calls.py'), formatPythonProgram(url, lines))
    await runCommand(directory, ['venv/bin/python', 'calls.py'], { PYTHONPATH: directory })
  }

const formatPythonProgram = (
  url: string,
  lines: readonly string[],
): string => `import enum, importlib, inspect, json, pathlib, re, typing
from generated.client import Client
client = Client(base_url="${url}")
for file in pathlib.Path("generated").rglob("*.py"):
    importlib.import_module(".".join(file.with_suffix("").parts))
models = len([file for file in pathlib.Path("generated/models").glob("*.py") if file.name != "__init__.py"])
assert models <= ${maxPythonModels}, f"{models} models"
def call(folder, name, parameters, body):
    module = importlib.import_module(f"generated.api.{folder}.{name}")
    hints = typing.get_type_hints(module.sync_detailed)
    given = {}
    for key, value in parameters.items():
        key = re.sub(r"[A-Z]", lambda match: "_" + match[0].lower(), key)
        kind = hints[key]
        given[key] = kind(value) if inspect.isclass(kind) and issubclass(kind, enum.Enum) else value
    if body is not None:
        given["body"] = hints["body"].from_dict(body)
    response = module.sync_detailed(client=client, **given)
    assert response.status_code == 200, f"{name} returned {response.status_code}: {response.content[:200]}"
    assert response.parsed is not None, f"{name} was not parsed"
${lines.join('\n')}
print(models)
`

/** oapi-codegen, for Go. */
export const checkGo =
  (find: FindOperation): CheckClient =>
  async (directory, url) => {
    await writeFile(join(directory, 'go.mod'), 'module clients\n\ngo 1.24\n')
    const generator = 'github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.5.0'
    const generate = ['-generate', 'types,client', '-package', 'main', '-o', 'client.go', 'openapi.json']
    await runCommand(directory, ['go', 'run', generator, ...generate])
    const lines = clientCalls.map((call) => {
      const { inPath, inQuery } = splitParameters(call, find(call.operationId).path)
      const path = Object.values(inPath).map((value) => `, ${JSON.stringify(value)}`)
      const query =
        Object.keys(inQuery).length === 0
          ? ''
          : `, read[${pascal(call.operationId)}Params](\`${JSON.stringify(inQuery)}\`)`
      const parameters = query || (find(call.operationId).hasParameters ? ', nil' : '')
      const body = call.body
        ? `, *read[${pascal(call.operationId)}JSONRequestBody](\`${JSON.stringify(call.body)}\`)`
        : ''
      return `\tcheck("${call.operationId}", func() (status, error) { r, err := client.${pascal(call.operationId)}WithResponse(ctx${path.join('')}${parameters}${body}); if err != nil { return nil, err }; if r.JSON200 == nil { return nil, fmt.Errorf("not parsed: %s", r.Body) }; return r, nil })`
    })
    await writeFile(join(directory, 'main.go'), formatGoProgram(url, lines))
    await runCommand(directory, ['go', 'mod', 'tidy'])
    await runCommand(directory, ['go', 'build', '-o', 'calls', '.'])
    await runCommand(directory, [join(directory, 'calls')])
  }

const formatGoProgram = (url: string, lines: readonly string[]): string => `package main

import (
	"context"
	"encoding/json"
	"fmt"
)

type status interface{ StatusCode() int }

func read[T any](text string) *T {
	var value T
	if err := json.Unmarshal([]byte(text), &value); err != nil {
		panic(err)
	}
	return &value
}

func check(id string, call func() (status, error)) {
	response, err := call()
	if err != nil {
		panic(fmt.Sprintf("%s: %v", id, err))
	}
	if response.StatusCode() != 200 {
		panic(fmt.Sprintf("%s returned %d", id, response.StatusCode()))
	}
}

func main() {
	ctx := context.Background()
	client, err := NewClientWithResponses("${url}")
	if err != nil {
		panic(err)
	}
${lines.join('\n')}
}
`

/** Splits the parameters of a call into those of the path and those of the query. */
const splitParameters = ({ parameters = {} }: ClientCall, path: string) => {
  const isInPath = ([name]: [string, unknown]) => path.includes(`{${name}}`)
  const entries = Object.entries(parameters)
  return {
    inPath: Object.fromEntries(entries.filter(isInPath)),
    inQuery: Object.fromEntries(entries.filter((entry) => !isInPath(entry))),
  }
}
