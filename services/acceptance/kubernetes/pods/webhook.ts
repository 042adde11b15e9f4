// Runs in a pod: receives the messages of a webhook channel and appends each as a line of JSON to a file.
import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'

const port = 3490
const file = '/data/messages.jsonl'

createServer((request, response) => {
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk: string) => (text += chunk))
  request.on('end', () => {
    appendFileSync(file, `${JSON.stringify({ atMs: Date.now(), text })}\n`)
    response.end('ok')
  })
}).listen(port)
