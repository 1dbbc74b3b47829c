//! The lines of exported CSV files.

/// A CSV file that begins with a byte order mark.
#[derive(Debug)]
pub(crate) struct CsvFile {
    pub(crate) columns: Vec<String>,
    pub(crate) lines: Vec<Vec<String>>,
}

impl CsvFile {
    /// Parses a file and asserts that each line has a field for each column.
    #[track_caller]
    pub(crate) fn parse(text: &str) -> Self {
        let text = text.strip_prefix('\u{feff}').expect("a byte order mark is first");
        let mut lines = parse_lines(text).into_iter();
        let columns = lines.next().expect("the file has a header line");
        let lines: Vec<_> = lines.collect();
        assert!(lines.iter().all(|line| line.len() == columns.len()), "{text}");
        Self { columns, lines }
    }

    /// Returns the fields of a column.
    #[track_caller]
    pub(crate) fn column(&self, name: &str) -> Vec<&str> {
        let place = self.columns.iter().position(|column| column == name).expect("it is a column");
        self.lines.iter().map(|line| line[place].as_str()).collect()
    }

    /// Returns the amounts of a column, in hundredths of a coin.
    #[track_caller]
    pub(crate) fn hundredths(&self, name: &str) -> Vec<i64> {
        let parse = |field: &str| {
            let (whole, decimals) = field.split_once('.').expect("an amount has decimal places");
            assert_eq!(decimals.len(), 2, "{field}");
            format!("{whole}{decimals}").parse().expect("an amount is a number")
        };
        self.column(name).into_iter().map(parse).collect()
    }

    /// Asserts that every column has a field that is not empty.
    #[track_caller]
    pub(crate) fn assert_no_empty_column(&self, may_be_empty: &[&str]) {
        for name in &self.columns {
            let is_empty = self.column(name).iter().all(|field| field.is_empty());
            assert!(!is_empty || may_be_empty.contains(&name.as_str()), "{name} is empty");
        }
    }
}

/// Returns the fields of each line. Quoted fields may contain separators.
fn parse_lines(text: &str) -> Vec<Vec<String>> {
    let mut lines = vec![vec![String::new()]];
    let mut is_quoted = false;
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        let line = lines.last_mut().expect("there is a line");
        let field = line.last_mut().expect("a line has a field");
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => line.push(String::new()),
            '\r' if !is_quoted => {}
            '\n' if !is_quoted => lines.push(vec![String::new()]),
            letter => field.push(letter),
        }
    }
    assert_eq!(lines.pop(), Some(vec![String::new()]), "the last line ends");
    lines
}
