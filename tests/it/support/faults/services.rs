//! PostgreSQL and Redis for one test alone, which it may kill, pause and restart.
//!
//! They are started by `./dev services start` in a new folder that `BAHAY_LOCAL` names, with the
//! programs that this checkout has found or downloaded. `./dev services status` reports the running
//! services and the location of their data.
//!
//! A janitor process ends and removes everything. It waits for the end of its input, so it also
//! acts when the test panics or is killed.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use tokio::net::UnixStream;
use tokio::task::spawn_blocking;
use uuid::Uuid;

/// $1 is `./dev`, $2 the folder, $3 the location of the services, which may be elsewhere. Paused
/// processes are resumed, because they would not receive the signal to end. A `./dev` that is still
/// starting a service ends too.
const JANITOR: &str = r#"
    cat >/dev/null
    if [ -s "$2/paused" ]; then xargs kill -CONT <"$2/paused"; fi
    BAHAY_LOCAL=$2 "$1" down
    rm -rf "$3" "$2"
"#;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Service {
    Postgres,
    Redis,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::Postgres => "postgres",
            Self::Redis => "redis",
        }
    }
}

/// Services that are ended and removed on drop.
#[derive(Debug)]
pub(crate) struct Services {
    wanted: Vec<Service>,
    /// The value of `BAHAY_LOCAL`.
    folder: PathBuf,
    /// The location of data, sockets and logs: the same folder, unless the services' user cannot
    /// enter it.
    instance: PathBuf,
    database_url: String,
    redis_url: String,
    janitor: Child,
}

impl Services {
    pub(crate) async fn start(wanted: &[Service]) -> Self {
        let wanted = wanted.to_vec();
        let services = spawn_blocking(|| Self::prepare(wanted)).await;
        let mut services = services.expect("the services are prepared");
        services.start_again().await;
        services
    }

    fn prepare(wanted: Vec<Service>) -> Self {
        let checkout = instance(&mut dev());
        let name = Uuid::new_v4().simple().to_string();
        let folder = std::env::temp_dir().join(format!("bahay-{}", &name[..12]));
        fs::create_dir(&folder).expect("a folder with a new name is created");
        let instance = instance(dev().env("BAHAY_LOCAL", &folder));
        let programs = checkout.join("programs");
        fs::create_dir_all(&programs).expect("the checkout's folder is writable");
        symlink(programs, instance.join("programs")).expect("the folder is new");
        let janitor = Command::new("sh")
            .args(["-c", JANITOR, "sh"])
            .args([&dev_path(), &folder, &instance])
            // Not reached by a Ctrl-C that ends the tests.
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .env_remove("DATABASE_URL")
            .env_remove("REDIS_URL")
            .spawn();
        let janitor = janitor.expect("a shell exists");
        let (database_url, redis_url) = (String::new(), String::new());
        Self { wanted, folder, instance, database_url, redis_url, janitor }
    }

    /// Returns the URL of an empty database, if PostgreSQL was requested.
    pub(crate) fn database_url(&self) -> &str {
        &self.database_url
    }

    pub(crate) fn redis_url(&self) -> &str {
        &self.redis_url
    }

    /// Starts the stopped services with their data and waits until they answer.
    pub(crate) async fn start_again(&mut self) {
        let mut dev = self.dev();
        let started = spawn_blocking(move || run_command(dev.args(["services", "start"])));
        let started = started.await.expect("./dev starts the services");
        for line in started.lines() {
            // The paths hold nothing that a shell would interpret, so nothing is quoted.
            if let Some(url) = line.strip_prefix("export DATABASE_URL=") {
                url.clone_into(&mut self.database_url);
            } else if let Some(url) = line.strip_prefix("export REDIS_URL=") {
                url.clone_into(&mut self.redis_url);
            }
        }
    }

    /// Kills a service as `kill -9` does and waits until it no longer listens.
    pub(crate) async fn kill(&self, service: Service) {
        signal("KILL", &[self.pid(service)]);
        // Paused processes would hold its shared memory.
        self.resume();
        let socket = self.socket(service);
        while UnixStream::connect(&socket).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    }

    /// Suspends a service until [`Services::resume`]. Connecting still works, since the kernel
    /// accepts, but nothing is answered.
    pub(crate) fn pause(&self, service: Service) {
        let main = self.pid(service);
        // The main process first, so that it forks no more.
        signal("STOP", &[main]);
        let mut paused = vec![main];
        paused.extend(children(main));
        let list: Vec<_> = paused.iter().map(u32::to_string).collect();
        fs::write(self.paused(), list.join(" ")).expect("the folder is writable");
        signal("STOP", &paused[1..]);
    }

    /// Resumes paused services.
    pub(crate) fn resume(&self) {
        let Ok(paused) = fs::read_to_string(self.paused()) else {
            return;
        };
        let paused: Vec<u32> = paused.split(' ').filter_map(|pid| pid.parse().ok()).collect();
        // Some may have been killed.
        for pid in paused {
            signal("CONT", &[pid]);
        }
        fs::remove_file(self.paused()).expect("the folder is writable");
    }

    /// Kills Redis, if it runs, and starts it without data.
    pub(crate) async fn start_redis_empty(&mut self) {
        if status(&mut self.dev()).iter().any(|(name, _)| name == Service::Redis.name()) {
            self.kill(Service::Redis).await;
        }
        for entry in fs::read_dir(self.instance.join("redis")).expect("Redis has a folder") {
            let path = entry.expect("the folder can be read").path();
            let removed =
                if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
            removed.expect("the data is removed");
        }
        self.start_again().await;
    }

    /// Returns the main process of a running service.
    pub(crate) fn pid(&self, service: Service) -> u32 {
        let status = status(&mut self.dev());
        let found = status.iter().find(|(name, _)| name == service.name());
        let (_, pid) = found.unwrap_or_else(|| panic!("{} does not run", service.name()));
        pid.parse().expect("./dev prints a process id")
    }

    /// Returns the path of the socket, as in the URLs.
    fn socket(&self, service: Service) -> PathBuf {
        match service {
            Service::Postgres => {
                let options: sqlx::postgres::PgConnectOptions =
                    self.database_url.parse().expect("./dev prints a PostgreSQL URL");
                let folder = options.get_socket().expect("./dev uses a Unix socket");
                folder.join(format!(".s.PGSQL.{}", options.get_port()))
            }
            Service::Redis => {
                let path = self.redis_url.strip_prefix("redis+unix://");
                path.expect("./dev uses a Unix socket").into()
            }
        }
    }

    fn paused(&self) -> PathBuf {
        self.folder.join("paused")
    }

    /// Returns a `./dev` command; `./dev` does not manage a service whose URL is set.
    fn dev(&self) -> Command {
        let mut command = dev();
        command.env("BAHAY_LOCAL", &self.folder);
        for (service, name) in [(Service::Postgres, "DATABASE_URL"), (Service::Redis, "REDIS_URL")]
        {
            if !self.wanted.contains(&service) {
                command.env(name, "not wanted");
            }
        }
        command
    }
}

impl Drop for Services {
    fn drop(&mut self) {
        drop(self.janitor.stdin.take());
        if let Err(error) = self.janitor.wait() {
            eprintln!("it is unknown whether {} was removed: {error}", self.folder.display());
        }
    }
}

fn dev_path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("dev")
}

/// Returns a `./dev` command without service URLs.
fn dev() -> Command {
    let mut command = Command::new(dev_path());
    command.env_remove("DATABASE_URL").env_remove("REDIS_URL").stdin(Stdio::null());
    command
}

/// Runs a command that must succeed and returns its output.
fn run_command(command: &mut Command) -> String {
    let Output { status, stdout, stderr } = command.output().expect("the command can be started");
    assert!(status.success(), "{command:?}: {}", String::from_utf8_lossy(&stderr));
    String::from_utf8(stdout).expect("the output is UTF-8")
}

/// Returns the output of `./dev services status` in pairs of words.
fn status(dev: &mut Command) -> Vec<(String, String)> {
    let output = run_command(dev.args(["services", "status"]));
    let lines = output.lines().filter_map(|line| line.split_once(' '));
    lines.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn instance(dev: &mut Command) -> PathBuf {
    let status = status(dev);
    let found = status.into_iter().find(|(name, _)| name == "folder");
    found.expect("./dev prints the services' folder").1.into()
}

/// Signals processes, of which some may have exited.
fn signal(name: &str, pids: &[u32]) {
    let pids = pids.iter().map(u32::to_string);
    let sent = Command::new("kill").arg(format!("-{name}")).args(pids).output();
    drop(sent.expect("the kill command exists"));
}

/// Returns the child processes of a process.
fn children(parent: u32) -> Vec<u32> {
    let table = match fs::read_dir("/proc/self") {
        Ok(_) => proc_table(),
        Err(_) => run_command(Command::new("ps").args(["-A", "-o", "pid=,ppid="])),
    };
    let numbers = |line: &str| -> Option<(u32, u32)> {
        let mut words = line.split_whitespace();
        Some((words.next()?.parse().ok()?, words.next()?.parse().ok()?))
    };
    let processes = table.lines().filter_map(numbers);
    processes.filter(|(_, its_parent)| *its_parent == parent).map(|(pid, _)| pid).collect()
}

/// Returns the process table in the format of `ps`.
fn proc_table() -> String {
    let entries = fs::read_dir("/proc").expect("/proc is readable").filter_map(Result::ok);
    let line = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // The state and the parent follow the name, which is in brackets and may contain any
        // character.
        let parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        Some(format!("{} {parent}\n", entry.file_name().to_string_lossy()))
    };
    entries.filter_map(line).collect()
}
