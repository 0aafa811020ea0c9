/** Requests that no HTTP client would send. */
import { connect } from 'node:net'
import { API_KEY } from './running-api.js'

/** Request line and headers, with a valid key, up to the empty line. */
export function requestHead(method: string, path: string, headers: Readonly<Record<string, string>> = {}): string {
  const all = Object.entries({ Host: 'localhost', Authorization: `Bearer ${API_KEY}`, ...headers })
  return [`${method} ${path} HTTP/1.1`, ...all.map(([name, value]) => `${name}: ${value}`), '', ''].join('\r\n')
}

/** Sends bytes and reads until the server closes the connection. */
export function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    let received = ''
    socket.setEncoding('utf8')
    socket.on('data', chunk => {
      received += chunk
    })
    socket.on('error', reject)
    socket.on('close', () => resolve(received))
    socket.write(text)
  })
}
